import CSatchel
import Satchel
import Synchronization

/// What a host answers to one request. Its handle is good until the host's function returns: one that is kept
/// longer is no handle any more, and what is set through it goes nowhere.
final class RemoteAnswer: Sendable {
  /// What was set. Bytes that cannot be read count as not set.
  struct Content: Sendable {
    var body: [UInt8]?
    var etag: String?
    var metadata: [UInt8]?
    var size: Int64?
    var message: String?
  }

  private let content = Mutex(Content())

  /// Calls a function of the host with a handle to answer through.
  static func of(_ ask: (OpaquePointer?) -> satchel_remote_result) -> (satchel_remote_result, Content) {
    let answer = RemoteAnswer()
    let handle = Handles.answers.give(answer)
    let result = ask(handle)
    _ = Handles.answers.take(handle)
    return (result, answer.content.withLock { $0 })
  }

  /// Sets something of the answer behind a handle, if it is one.
  static func set(_ handle: OpaquePointer?, _ change: (inout Content) throws -> Void) {
    guard let answer = try? Handles.answers.borrow(handle) else { return }
    answer.content.withLock { content in
      do { try change(&content) } catch { content.message = "\(error)" }
    }
  }
}

@_cdecl("satchel_remote_answer_body") @implementation
public func satchel_remote_answer_body(_ answer: OpaquePointer!, _ body: satchel_bytes) {
  RemoteAnswer.set(answer) { answer in
    answer.body = nil
    answer.body = try Array(body.raw("body"))
  }
}

@_cdecl("satchel_remote_answer_etag") @implementation
public func satchel_remote_answer_etag(_ answer: OpaquePointer!, _ etag: satchel_bytes) {
  RemoteAnswer.set(answer) { answer in
    answer.etag = nil
    answer.etag = try etag.text("etag")
  }
}

@_cdecl("satchel_remote_answer_metadata") @implementation
public func satchel_remote_answer_metadata(_ answer: OpaquePointer!, _ metadata: satchel_bytes) {
  RemoteAnswer.set(answer) { $0.metadata = try Array(metadata.raw("metadata")) }
}

@_cdecl("satchel_remote_answer_size") @implementation
public func satchel_remote_answer_size(_ answer: OpaquePointer!, _ size: Int64) {
  RemoteAnswer.set(answer) { $0.size = size }
}

@_cdecl("satchel_remote_answer_message") @implementation
public func satchel_remote_answer_message(_ answer: OpaquePointer!, _ message: satchel_bytes) {
  // What is not UTF-8 of it is mended: it is for people.
  RemoteAnswer.set(answer) { answer in
    answer.message = try String(decoding: message.raw("message").prefix(2000), as: UTF8.self)
  }
}
