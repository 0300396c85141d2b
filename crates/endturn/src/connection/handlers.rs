//! From a typed closure to something the reader can start.

use std::{
    any::Any,
    panic::{AssertUnwindSafe, catch_unwind},
    pin::Pin,
    sync::Arc,
    task::{Context, Poll},
};

use serde::{Serialize, de::DeserializeOwned};
use serde_json::value::RawValue;

use super::repair;
use crate::{error::HandlerResult, schema::v1};

pub(crate) type BoxFuture<T> = Pin<Box<dyn Future<Output = T> + Send>>;

/// A handler whose parameters and result are JSON.
///
/// Reading the parameters happens at once, on the reader; the program's own code runs when the future is polled.
pub(crate) type Handler<C> = Box<
    dyn Fn(Option<&RawValue>, C) -> Result<BoxFuture<HandlerResult<Box<RawValue>>>, v1::Error>
        + Send
        + Sync,
>;

/// Wraps a closure with typed parameters and a typed result.
pub(crate) fn handler<C, P, R, F, Fut>(method: &'static str, handle: F) -> Handler<C>
where
    C: Send + 'static,
    P: DeserializeOwned + Send + 'static,
    R: Serialize,
    F: Fn(P, C) -> Fut + Send + Sync + 'static,
    Fut: Future<Output = HandlerResult<R>> + Send,
{
    let handle = Arc::new(handle);
    Box::new(move |params, context| {
        let params: P = match decode(params) {
            Ok(params) => params,
            Err(error) => {
                let repaired = params.and_then(|params| repair::params(method, params.get()));
                let read = repaired.and_then(|params| serde_json::from_value(params).ok());
                read.ok_or(error)?
            }
        };
        let handle = Arc::clone(&handle);
        Ok(Box::pin(async move {
            let result = handle(params, context).await?;
            Ok(serde_json::value::to_raw_value(&result)?)
        }))
    })
}

/// A handler of notifications, whose parameters are JSON; see [`Handler`].
pub(crate) type NotificationHandler<C> =
    Box<dyn Fn(Option<&RawValue>, C) -> Result<BoxFuture<()>, v1::Error> + Send + Sync>;

/// Wraps a closure with typed parameters.
pub(crate) fn notification_handler<C, P, F, Fut>(handle: F) -> NotificationHandler<C>
where
    C: Send + 'static,
    P: DeserializeOwned + Send + 'static,
    F: Fn(P, C) -> Fut + Send + Sync + 'static,
    Fut: Future<Output = ()> + Send,
{
    let handle = Arc::new(handle);
    Box::new(move |params, context| {
        let params: P = decode(params)?;
        let handle = Arc::clone(&handle);
        Ok(Box::pin(async move { handle(params, context).await }))
    })
}

/// Reads parameters; what is wrong with them is an error for the peer that names the field.
pub(crate) fn decode<P: DeserializeOwned>(params: Option<&RawValue>) -> Result<P, v1::Error> {
    let text = params.map_or("{}", RawValue::get);
    serde_json::from_str(text).map_err(|error| {
        // The path is worked out only now, because keeping track of it costs every request.
        let deserializer = &mut serde_json::Deserializer::from_str(text);
        let path = match serde_path_to_error::deserialize::<_, P>(deserializer) {
            Err(error) if error.path().iter().len() > 0 => error.path().to_string(),
            Err(_) | Ok(_) => "params".to_owned(),
        };
        let reason = error.to_string();
        v1::Error::invalid_params().data(serde_json::json!({ "field": path, "reason": reason }))
    })
}

/// What a handler panicked with.
pub(crate) type Panic = Box<dyn Any + Send>;

/// Runs a handler to its end; a panic in it is its end too.
pub(crate) async fn catch_panic<T>(mut handler: BoxFuture<T>) -> Result<T, Panic> {
    std::future::poll_fn(|context| poll_catching(&mut handler, context)).await
}

/// Polls a handler; after a panic it must not be polled again.
pub(crate) fn poll_catching<T>(
    handler: &mut BoxFuture<T>,
    context: &mut Context<'_>,
) -> Poll<Result<T, Panic>> {
    match catch_unwind(AssertUnwindSafe(|| handler.as_mut().poll(context))) {
        Ok(polled) => polled.map(Ok),
        Err(panic) => Poll::Ready(Err(panic)),
    }
}
