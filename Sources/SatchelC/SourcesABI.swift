import CSatchel
import Satchel
import SatchelCore
import SatchelStorage

/// A source that the host holds.
final class SourceHandle: Sendable {
  let source: any ContentSource
  init(_ source: any ContentSource) { self.source = source }
}

@_cdecl("satchel_source_http") @implementation
public func satchel_source_http(
  _ baseURL: satchel_bytes, _ options: satchel_bytes, _ out: UnsafeMutablePointer<OpaquePointer?>!
) -> satchel_status {
  guarded(returning: out, orElse: nil) {
    let source = try HTTPSource(baseURL: baseURL.text("base_url"), json: options.jsonIfAny("options"))
    return Handles.sources.insert(SourceHandle(source))
  }
}

@_cdecl("satchel_source_new") @implementation
public func satchel_source_new(
  _ content: satchel_source_content!, _ asset: satchel_asset_fetch!, _ context: UnsafeMutableRawPointer!,
  _ release: (@convention(c) (UnsafeMutableRawPointer?) -> Void)!,
  _ out: UnsafeMutablePointer<OpaquePointer?>!
) -> satchel_status {
  let host = HostContext(context, release)
  return guarded(returning: out, orElse: nil) {
    guard let content else { throw SatchelError(.invalid, "content is NULL") }
    // By the header's contract the host's functions may be called on any thread.
    nonisolated(unsafe) let ask = content
    var assets: (@Sendable (AssetRequest, AssetWriter) throws -> AssetResponse)?
    if let asset {
      nonisolated(unsafe) let fetch = asset
      assets = { request, writer in try request.send(to: fetch, host.address, writer) }
    }
    let source = FunctionSource(
      content: { request in
        let (result, answer) = try request.json.withBytes { question in
          RemoteAnswer.of(limit: HostContent.maximum, cancellation: request.cancellation) { handle in
            HostWork.calling("a function of the source") { ask(host.address, question, handle) }
          }
        }
        return try HostContent(result: result, answer: answer).answer(to: request)
      }, asset: assets)
    return Handles.sources.insert(SourceHandle(source))
  }
}

@_cdecl("satchel_source_free") @implementation
public func satchel_source_free(_ source: OpaquePointer!) {
  _ = Handles.sources.remove(source)
}

@_cdecl("satchel_source_fetch") @implementation
public func satchel_source_fetch(
  _ source: OpaquePointer!, _ request: satchel_bytes, _ out: UnsafeMutablePointer<satchel_buffer>!
) -> satchel_status {
  guarded(emptying: out) { out in
    let source = try Handles.sources.borrow(source).source
    let json = try request.json("request")
    let cancellation = Cancellation { InterruptibleCall.mustStop }
    let question = try naming("request") { try ContentRequest(json: json, cancellation: cancellation) }
    do {
      let answer = try InterruptibleCall.perform(timeout: 0, "the source") { try source.content(question) }
      try give(answer.json, to: out)
    } catch let failure as SourceFailure {
      try give(failure.json, to: out)
    }
  }
}

@_cdecl("satchel_assets_fetch_from") @implementation
public func satchel_assets_fetch_from(
  _ store: OpaquePointer!, _ references: satchel_bytes, _ source: OpaquePointer!,
  _ options: UnsafePointer<satchel_asset_fetch_options>!, _ out: UnsafeMutablePointer<satchel_buffer>!
) -> satchel_status {
  out?.pointee = satchel_buffer()
  return guarded {
    let source = try Handles.sources.borrow(source).source
    try fetchAssets(store, references, options, out) { _ in { try source.asset($0, into: $1) } }
  }
}

extension JSONValue {
  /// Calls `body` with the value as JSON text.
  fileprivate func withBytes<Answer>(_ body: (satchel_bytes) -> Answer) throws -> Answer {
    lend(try serialized(), to: body)
  }
}

// MARK: Answers of the host's functions

/// The result of a function of the host that fetches content, and what it has set.
private struct HostContent {
  /// The maximum size of content in bytes.
  static let maximum: Int64 = 64 << 20

  let result: satchel_remote_result
  let answer: RemoteAnswer.Content

  /// - Throws: `SourceFailure`
  func answer(to request: ContentRequest) throws -> ContentAnswer {
    switch result {
    case SATCHEL_REMOTE_OK:
      if answer.isTooLarge { throw failure("the content has more than \(Self.maximum) bytes", isFinal: true) }
      guard let body = answer.body else { throw failure("no body was set", isFinal: true) }
      return .content(
        body, etag: answer.etag, maxAge: answer.maxAge,
        isComplete: answer.isComplete || HTTPSource.isComplete(body))
    case SATCHEL_REMOTE_NOT_MODIFIED:
      guard request.etag != nil else {
        throw failure("SATCHEL_REMOTE_NOT_MODIFIED answers a request that has an etag", isFinal: true)
      }
      return .notModified(etag: answer.etag, maxAge: answer.maxAge)
    case SATCHEL_REMOTE_NOT_FOUND: return .notFound(maxAge: answer.maxAge)
    case SATCHEL_REMOTE_TRANSIENT, SATCHEL_REMOTE_UNKNOWN: throw failure("temporarily unavailable")
    case SATCHEL_REMOTE_DENIED: throw failure("denied", isFinal: true)
    case SATCHEL_REMOTE_FAILED, SATCHEL_REMOTE_PRECONDITION_FAILED: throw failure("failed", isFinal: true)
    default:
      throw failure(
        "\(Int32(truncatingIfNeeded: result.rawValue)) is not a satchel_remote_result", isFinal: true)
    }
  }

  private func failure(_ reason: String, isFinal: Bool = false) -> SourceFailure {
    SourceFailure(answer.message ?? reason, isFinal: isFinal, retryAfter: isFinal ? nil : answer.retryAfter)
  }
}

@_cdecl("satchel_source_answer_body") @implementation
public func satchel_source_answer_body(_ answer: OpaquePointer!, _ body: satchel_bytes) {
  RemoteAnswer.setBody(answer, body)
}

@_cdecl("satchel_source_answer_etag") @implementation
public func satchel_source_answer_etag(_ answer: OpaquePointer!, _ etag: satchel_bytes) {
  satchel_remote_answer_etag(answer, etag)
}

@_cdecl("satchel_source_answer_max_age") @implementation
public func satchel_source_answer_max_age(_ answer: OpaquePointer!, _ seconds: Int64) {
  RemoteAnswer.set(answer) { $0.maxAge = WebFreshness.seconds(seconds) }
}

@_cdecl("satchel_source_answer_complete") @implementation
public func satchel_source_answer_complete(_ answer: OpaquePointer!, _ complete: Bool) {
  RemoteAnswer.set(answer) { $0.isComplete = complete }
}

@_cdecl("satchel_source_answer_message") @implementation
public func satchel_source_answer_message(_ answer: OpaquePointer!, _ message: satchel_bytes) {
  satchel_remote_answer_message(answer, message)
}

@_cdecl("satchel_source_answer_retry_after") @implementation
public func satchel_source_answer_retry_after(_ answer: OpaquePointer!, _ seconds: Int64) {
  RemoteAnswer.set(answer) { $0.retryAfter = WebFreshness.seconds(seconds) }
}

@_cdecl("satchel_source_answer_cancelled") @implementation
public func satchel_source_answer_cancelled(_ answer: OpaquePointer!) -> Bool {
  RemoteAnswer.isCancelled(answer)
}
