import CSatchel
import Satchel

/// Runs the body of an exported function: whatever it throws becomes a status and this thread's message.
@inline(__always)
func guarded(_ body: () throws -> Void) -> satchel_status {
  do {
    try body()
    return SATCHEL_OK
  } catch {
    return failed(error)
  }
}

/// As `guarded`, for a function that gives bytes: they are emptied first, and stay so on failure.
@inline(__always)
func guarded(
  emptying out: UnsafeMutablePointer<satchel_buffer>?,
  _ body: (UnsafeMutablePointer<satchel_buffer>) throws -> Void
) -> satchel_status {
  guard let out else { return failed(SatchelError(.invalid, "out is NULL")) }
  out.pointee = satchel_buffer()
  return guarded { try body(out) }
}

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

/// What the last failure of each thread said.
enum ThreadMessage {
  private static let key: pthread_key_t = {
    var key = pthread_key_t()
    pthread_key_create(&key) { free($0) }
    return key
  }()

  // Never freed, never changed.
  nonisolated(unsafe) private static let none: UnsafePointer<CChar> = {
    let empty = UnsafeMutablePointer<CChar>.allocate(capacity: 1)
    empty.initialize(to: 0)
    return UnsafePointer(empty)
  }()

  static var current: UnsafePointer<CChar> {
    guard let stored = pthread_getspecific(key) else { return none }
    return UnsafePointer(stored.assumingMemoryBound(to: CChar.self))
  }

  static func set(_ message: String) {
    free(pthread_getspecific(key))
    // A NUL would end the message early for the host.
    let clean =
      message.utf8.contains(0) ? message.split(separator: "\0").joined(separator: "\u{FFFD}") : message
    pthread_setspecific(key, strdup(clean))
  }
}
