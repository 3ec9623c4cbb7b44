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

/// Stores the thread's error message and returns the error's status.
@inline(never)
func failed(_ error: any Error) -> satchel_status {
  switch error {
  case let error as SatchelError:
    ThreadMessage.set(error.message)
    return satchel_status(rawValue: satchel_status.RawValue(error.code.rawValue))
  case let error as ObjectStoreError:
    return failed(error.satchelError)
  case let error as JSONError:
    ThreadMessage.set("\(error)")
    return SATCHEL_EINVALID
  default:
    ThreadMessage.set("\(error)")
    return SATCHEL_EINTERNAL
  }
}

/// The error message of each thread's last failed call.
enum ThreadMessage {
  private static let key: pthread_key_t = {
    var key = pthread_key_t()
    pthread_key_create(&key) { free($0) }
    return key
  }()

  // Allocated once and never changed.
  nonisolated(unsafe) private static let empty: UnsafePointer<CChar> = {
    let text = UnsafeMutablePointer<CChar>.allocate(capacity: 1)
    text.initialize(to: 0)
    return UnsafePointer(text)
  }()

  static var current: UnsafePointer<CChar> {
    guard let stored = pthread_getspecific(key) else { return empty }
    return UnsafePointer(stored.assumingMemoryBound(to: CChar.self))
  }

  static func set(_ message: String) {
    free(pthread_getspecific(key))
    // The host reads a C string, which a NUL would end early.
    let clean =
      message.utf8.contains(0) ? message.split(separator: "\0").joined(separator: "\u{FFFD}") : message
    pthread_setspecific(key, strdup(clean))
  }
}
