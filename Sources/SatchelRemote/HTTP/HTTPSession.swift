import CCurl
import SatchelCore

/// A libcurl session, which keeps connections open between requests. It sends one request at a time.
// Unchecked: the client lends a session to one request at a time.
final class HTTPSession: @unchecked Sendable {
  private let session: OpaquePointer

  /// - Throws: `.libraryMissing` when libcurl is not installed
  init() throws(HTTPFailure) {
    var message = [CChar](repeating: 0, count: 256)
    guard ccurl_load(&message, message.count) else {
      throw HTTPFailure(kind: .libraryMissing, message: String(message: message))
    }
    guard let session = ccurl_open() else {
      throw HTTPFailure(kind: .noMemory, message: "not enough memory for a request")
    }
    self.session = session
  }

  deinit { ccurl_close(session) }

  /// Sends a request.
  ///
  /// - Returns: the received part of the response, whether its headers are complete, and the failure if it is
  ///   incomplete
  func perform(
    _ request: HTTPRequest, by route: HTTPRoute, cancellation: Cancellation
  ) -> (response: HTTPResponse, hasHeaders: Bool, failure: HTTPFailure?) {
    let lines = request.headers.map { $0.value.isEmpty ? $0.name + ";" : $0.name + ": " + $0.value }
    var state = State(HTTPReceiver(request, cancellation: cancellation), request.body.reader)
    var result = ccurl_result()
    withCStrings([request.method, request.url, route.caFile ?? "", route.proxy ?? ""] + lines) { strings in
      request.body.withBytes { bytes in
        withUnsafeMutablePointer(to: &state) { state in
          var call = ccurl_request()
          call.method = strings[0]
          call.url = strings[1]
          if route.caFile != nil { call.ca_file = strings[2] }
          if route.proxy != nil { call.proxy = strings[3] }
          call.headers = strings.baseAddress.map { UnsafePointer($0 + 4) }
          call.header_count = lines.count
          call.body = bytes.baseAddress
          call.body_length = state.pointee.reader?.count ?? Int64(bytes.count)
          call.connect_timeout = route.timeouts.connect
          call.stall_timeout = route.timeouts.stall
          call.total_timeout = route.timeouts.total
          call.fresh_connection = request.needsOwnConnection
          call.decodes = request.isDecoded
          if request.isPublicOnly {
            call.allows_address = { context, bytes, length in
              HTTPSession.state(context)?.pointee.receiver.allows(
                UnsafeRawBufferPointer(start: bytes, count: length)) ?? false
            }
          }
          call.context = UnsafeMutableRawPointer(state)
          call.on_header = { context, line, length in
            HTTPSession.state(context)?.pointee.receiver.header(
              UnsafeRawBufferPointer(start: line, count: length))
              ?? false
          }
          call.on_body = { context, bytes, length in
            HTTPSession.state(context)?.pointee.receiver.body(
              UnsafeRawBufferPointer(start: bytes, count: length))
              ?? false
          }
          call.is_cancelled = { HTTPSession.state($0)?.pointee.receiver.isCancelled ?? false }
          if state.pointee.reader != nil {
            call.on_read = { context, bytes, size in
              HTTPSession.state(context)?.pointee.reader?.read(
                into: UnsafeMutableRawBufferPointer(start: bytes, count: size)) ?? -1
            }
            call.on_rewind = { HTTPSession.state($0)?.pointee.reader?.rewind() }
          }
          ccurl_perform(session, &call, &result)
        }
      }
    }
    var message = withUnsafeBytes(of: result.message) {
      String(decoding: $0.prefix { $0 != 0 }, as: UTF8.self)
    }
    if result.outcome == CCURL_FORBIDDEN {
      message = "the server's address, \(state.receiver.refusedAddress ?? "unknown"), is not public"
    }
    let failure = Self.kind(result.outcome).map { HTTPFailure(kind: $0, message: message) }
    return (state.receiver.response, state.receiver.hasHeaders, failure)
  }

  /// The context of a request's callbacks.
  private struct State {
    var receiver: HTTPReceiver
    let reader: HTTPBodyReader?

    init(_ receiver: HTTPReceiver, _ reader: HTTPBodyReader?) {
      self.receiver = receiver
      self.reader = reader
    }
  }

  private static func state(_ context: UnsafeMutableRawPointer?) -> UnsafeMutablePointer<State>? {
    context?.assumingMemoryBound(to: State.self)
  }

  private static func kind(_ outcome: ccurl_outcome) -> HTTPFailure.Kind? {
    switch outcome {
    case CCURL_DONE: nil
    case CCURL_NOT_SENT: .notSent
    case CCURL_TRUNCATED: .truncated
    case CCURL_NOT_TRUSTED: .notTrusted
    case CCURL_TOO_LARGE: .tooLarge
    case CCURL_FORBIDDEN: .forbiddenAddress
    case CCURL_CANCELLED: .cancelled
    case CCURL_NO_MEMORY: .noMemory
    case CCURL_INVALID: .invalidRequest
    default: .noReply
    }
  }
}

/// Calls `body` with the strings as C strings, and erases them afterwards because they contain signatures.
private func withCStrings(
  _ strings: [String], _ body: (UnsafeMutableBufferPointer<UnsafePointer<CChar>?>) -> Void
) {
  var bytes: [CChar] = []
  var starts: [Int] = []
  bytes.reserveCapacity(strings.reduce(0) { $0 + $1.utf8.count + 1 })
  for string in strings {
    starts.append(bytes.count)
    bytes.append(contentsOf: string.utf8.lazy.map { CChar(bitPattern: $0) })
    bytes.append(0)
  }
  bytes.withUnsafeMutableBufferPointer { bytes in
    var pointers = starts.map { start in bytes.baseAddress.map { UnsafePointer($0 + start) } }
    pointers.withUnsafeMutableBufferPointer { body($0) }
    ccurl_erase(bytes.baseAddress, bytes.count)
  }
}

extension HTTPBody {
  /// Calls `body` with the bytes in memory; the address is not null for an empty array, only for other bodies.
  fileprivate func withBytes(_ body: (UnsafeBufferPointer<UInt8>) -> Void) {
    switch self {
    case .none, .stream: body(UnsafeBufferPointer(start: nil, count: 0))
    case .bytes(let bytes) where bytes.isEmpty:
      var nothing: UInt8 = 0
      withUnsafePointer(to: &nothing) { body(UnsafeBufferPointer(start: $0, count: 0)) }
    case .bytes(let bytes): bytes.withUnsafeBufferPointer(body)
    }
  }
}

extension String {
  /// Decodes a C buffer up to the first NUL.
  init(message: [CChar]) {
    self.init(decoding: message.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
  }
}
