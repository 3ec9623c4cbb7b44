"""Long-running calls, such as scans, synchronizations and backups: with progress, and cancelled by Ctrl-C.

Python runs signal handlers on the main thread, and only between its own instructions. So a long call is
made on a thread of its own, while the calling thread waits in a way that a signal can interrupt.
The progress callback runs on the calling thread, whatever thread the library reports from.
"""

from __future__ import annotations

import contextvars
import queue
import threading
from ctypes import byref
from typing import Any, Callable, List, Optional, Tuple, TypeVar

from satchel import _batches, _callbacks, _encoding, _interrupts
from satchel._abi import ProgressCallback
from satchel._library import json_answer
from satchel.errors import Busy
from satchel.values import record_from

__all__ = ["LongWork", "began", "progress_callback", "with_progress"]

_Result = TypeVar("_Result")


#: Is called with the work that a context begins, so that it can be cancelled.
began: contextvars.ContextVar[Optional[Callable[[LongWork], None]]] = contextvars.ContextVar(
    "satchel_work", default=None
)


class LongWork:
    """One call of the library that may take long.

    :param owner: the number of the store among the callbacks
    :param progress: receives the progress; False cancels. An exception in it cancels too, and is raised
        by :meth:`run`
    :param subject: identifies work that must not be started again from its own callbacks
    :param excluded: the subject of other work from whose callbacks it must not be started
    :param kind: identifies all work of this kind in the store, for ``excluded`` of other work
    :raises Busy: in a callback of a call with the same subject, or with the excluded one
    """

    def __init__(
        self,
        owner: int,
        progress: Optional[Callable[[Any], object]] = None,
        subject: Optional[object] = None,
        excluded: Optional[object] = None,
        kind: Optional[object] = None,
    ) -> None:
        self.owner = owner
        self.subjects = (subject, kind)
        if any(each is not None and _callbacks.is_running(each) for each in (subject, excluded)):
            raise Busy("this cannot begin from one of its own callbacks, which has to return first")
        self._progress = progress
        self._raised: Optional[BaseException] = None
        self._cancelled = False
        # Messages of the worker to the waiting thread.
        self._messages: Optional[queue.SimpleQueue[Optional[Tuple[Any, queue.SimpleQueue[bool]]]]] = None

    def fail(self, error: BaseException) -> None:
        """Cancels the work, which then raises an error; the first one counts. From any thread."""
        if self._raised is None:
            self._raised = error
        self._cancelled = True

    def cancel(self) -> None:
        """Cancels the work, which then raises Cancelled, or ends early. From any thread."""
        self._cancelled = True

    def run(self, call: Callable[[Any, int], _Result]) -> _Result:
        """Makes the call.

        :param call: gets the progress callback of C and its context; made on another thread
        :raises BaseException: the error given to :meth:`fail`, or raised by the progress callback
        """
        observe = began.get()
        if observe is not None:
            observe(self)
        context = _callbacks.register(self._receive, self.owner)

        def work() -> _Result:
            try:
                _batches.enter()
                return call(on_progress, context)
            finally:
                _callbacks.release(context)

        try:
            result = self._run_aside(work)
        except BaseException:
            self._cancelled = True
            if self._raised is None:
                raise
            # The Cancelled of the library is a consequence, not the cause.
            raise self._raised from None
        if self._raised is not None:
            raise self._raised
        return result

    def _run_aside(self, work: Callable[[], _Result]) -> _Result:
        messages = self._messages = queue.SimpleQueue()
        results: List[_Result] = []
        errors: List[BaseException] = []

        def run() -> None:
            try:
                results.append(work())
            except BaseException as error:
                errors.append(error)
            finally:
                messages.put(None)

        # The call is part of the batch that the caller's context carries.
        context = contextvars.copy_context()
        try:
            threading.Thread(target=context.run, args=(run,), name="satchel-work", daemon=True).start()
        except RuntimeError:
            # No thread can be started any more when the interpreter ends.
            self._messages = None
            _interrupts.forget_signals()
            return work()
        self._attend(messages)
        if errors:
            raise errors[0]
        return results[0]

    def _attend(self, messages: queue.SimpleQueue[Any]) -> None:
        """Answers the worker until it has ended. A second Ctrl-C does not wait for that."""
        while True:
            try:
                message = messages.get()
                if message is None:
                    return
                value, reply = message
                reply.put(self._notify(value))
            except BaseException as error:
                if self._cancelled:
                    raise
                self.fail(error)

    def _receive(self, value: Any) -> bool:
        """Receives progress from the library, on any thread."""
        if self._cancelled:
            return False
        if self._progress is None:
            return True
        if self._messages is None:
            return self._notify(value)
        reply: queue.SimpleQueue[bool] = queue.SimpleQueue()
        self._messages.put((value, reply))
        while not self._cancelled:
            try:
                return reply.get(timeout=0.1)
            except queue.Empty:
                continue
        return False

    def _notify(self, value: Any) -> bool:
        if self._cancelled or self._progress is None:
            return not self._cancelled
        try:
            with _callbacks.entered(self.owner, *self.subjects):
                if self._progress(value) is False:
                    self._cancelled = True
        except BaseException as error:
            self.fail(error)
        return not self._cancelled


def progress_callback(kind: Any, progress: Any) -> Optional[Callable[[Any], object]]:
    """A progress callback that receives an instance of ``kind`` instead of a dict."""
    if progress is None:
        return None
    _encoding.check_callable(progress, "progress")
    return lambda value: progress(record_from(kind, value))


def with_progress(options: Any, function: Callable[..., int], *arguments: Any) -> Callable[[Any, int], Any]:
    """A call for :meth:`LongWork.run`, of a function that returns JSON.

    :param options: a struct with the fields ``progress`` and ``context``; the last parameter of the function
        before its buffer
    """

    def call(on_progress: Any, context: int) -> Any:
        options.progress, options.context = on_progress, context
        return json_answer(function, *arguments, byref(options))

    return call


def _on_progress(context: Optional[int], message: Any) -> bool:
    # No exception may cross C; it cancels the work.
    function = None
    try:
        function, _ = _callbacks.lookup(context)
        if function is None:
            return False
        return bool(function(_callbacks.json_of(message)))
    except BaseException as error:
        if function is not None:
            function.__self__.fail(error)  # type: ignore[attr-defined]
        return False


on_progress = ProgressCallback(_on_progress)
