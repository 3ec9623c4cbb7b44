import CSatchel
import Satchel

/// Runs the body of an exported function and converts a thrown error to a status and the thread's error
/// message.
@inline(__always)
func guarded(_ body: () throws -> Void) -> satchel_status {
  do {
    try body()
    return SATCHEL_OK
  } catch {
    return failed(error)
  }
}

/// Runs the body of an exported function that returns a buffer: empties the buffer first, and leaves it empty
/// on failure.
@inline(__always)
func guarded(
  emptying out: UnsafeMutablePointer<satchel_buffer>?,
  _ body: (UnsafeMutablePointer<satchel_buffer>) throws -> Void
) -> satchel_status {
  guard let out else { return failed(SatchelError(.invalid, "out is NULL")) }
  out.pointee = satchel_buffer()
  return guarded { try body(out) }
}

/// Runs the body of an exported function and stores its result at `out`; on failure it stores `empty`.
@inline(__always)
func guarded<Result>(
  returning out: UnsafeMutablePointer<Result>?, named name: StaticString = "out", orElse empty: Result,
  _ body: () throws -> Result
) -> satchel_status {
  guard let out else { return failed(SatchelError(.invalid, "\(name) is NULL")) }
  out.pointee = empty
  return guarded { out.pointee = try body() }
}

/// Stores the thread's error and returns its status.
@inline(never)
func failed(_ error: any Error) -> satchel_status {
  switch error {
  case let error as SatchelError:
    ThreadError.set(error.message, error.details)
    return satchel_status(rawValue: satchel_status.RawValue(error.code.rawValue))
  case let error as ObjectStoreError:
    return failed(error.satchelError)
  case let error as JSONError:
    return failed(SatchelError(.invalid, "\(error)", underlying: error))
  default:
    return failed(SatchelError(.internal, "\(error)", underlying: error))
  }
}

/// Message and details of each thread's last failed call.
struct ThreadError {
  private let message: UnsafeMutablePointer<CChar>?
  /// A JSON object; nil when it is empty.
  private let details: UnsafeMutablePointer<CChar>?

  private static let key: pthread_key_t = {
    var key = pthread_key_t()
    pthread_key_create(&key) { ThreadError.release($0) }
    return key
  }()

  // Constants of the binary, which are never freed.
  nonisolated(unsafe) private static let noMessage = constant("")
  nonisolated(unsafe) private static let noDetails = constant("{}")

  private static func constant(_ text: StaticString) -> UnsafePointer<CChar> {
    UnsafeRawPointer(text.utf8Start).assumingMemoryBound(to: CChar.self)
  }

  private static var current: ThreadError? {
    pthread_getspecific(key)?.assumingMemoryBound(to: ThreadError.self).pointee
  }

  static var message: UnsafePointer<CChar> { current?.message.map { UnsafePointer($0) } ?? noMessage }
  static var details: UnsafePointer<CChar> { current?.details.map { UnsafePointer($0) } ?? noDetails }

  static func set(_ message: String, _ details: SatchelError.Details) {
    // The host reads a C string, which a NUL would end early.
    let clean =
      message.utf8.contains(0) ? message.split(separator: "\0").joined(separator: "\u{FFFD}") : message
    let error = UnsafeMutablePointer<ThreadError>.allocate(capacity: 1)
    let json = details.isEmpty ? nil : try? details.json.text
    error.initialize(to: ThreadError(message: strdup(clean), details: json.map { strdup($0) }))
    release(pthread_getspecific(key))
    pthread_setspecific(key, error)
  }

  private static func release(_ stored: UnsafeMutableRawPointer?) {
    guard let stored else { return }
    let error = stored.assumingMemoryBound(to: ThreadError.self)
    free(error.pointee.message)
    free(error.pointee.details)
    error.deallocate()
  }
}
