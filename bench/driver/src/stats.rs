//! Medians and percentiles.

/// The value that as many are below as above.
pub(crate) fn median(values: &[f64]) -> f64 {
    percentile(values, 50.0)
}

/// The value that `percent` of the others do not exceed.
pub(crate) fn percentile(values: &[f64], percent: f64) -> f64 {
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    let last = sorted.len().saturating_sub(1);
    let rank = percent / 100.0 * last as f64;
    let (low, high) = (rank.floor() as usize, rank.ceil() as usize);
    match (sorted.get(low), sorted.get(high)) {
        (Some(low), Some(high)) => low + (high - low) * rank.fract(),
        _ => f64::NAN,
    }
}

/// The smallest and the largest.
pub(crate) fn range(values: &[f64]) -> (f64, f64) {
    (percentile(values, 0.0), percentile(values, 100.0))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn percentiles_lie_between_the_values() {
        let values = [4.0, 1.0, 3.0, 2.0];
        assert_eq!(median(&values), 2.5);
        assert_eq!(percentile(&values, 100.0), 4.0);
        assert_eq!(range(&values), (1.0, 4.0));
        assert!(median(&[]).is_nan());
    }
}
