import Satchel
import Synchronization

/// The received signal, or 0. Global, since a signal handler cannot capture.
private let signalled = Atomic<CInt>(0)

/// Handles SIGINT, SIGTERM and SIGHUP: the first signal sets a flag that long operations check, so that they
/// stop in a consistent state; the second signal terminates the tool at once.
enum Interruption {
  /// Whether a signal was received.
  static var isRequested: Bool { signalled.load(ordering: .relaxed) != 0 }

  /// Installs the signal handlers. A signal that was ignored at start stays ignored, as with nohup.
  static func installHandlers() {
    // Initialises the global now, since a signal handler must not allocate.
    signalled.store(0, ordering: .relaxed)
    for number in [SIGINT, SIGTERM, SIGHUP] {
      let before = signal(number, SIG_IGN)
      guard unsafeBitCast(before, to: Int.self) != unsafeBitCast(SIG_IGN, to: Int.self) else { continue }
      signal(number) { number in
        signalled.store(number, ordering: .relaxed)
        signal(number, SIG_DFL)
      }
    }
  }

  /// Terminates the tool with the received signal, if any, so that the calling shell sees the signal and
  /// stops its own loops.
  static func raiseSignal() {
    let number = signalled.load(ordering: .relaxed)
    guard number != 0 else { return }
    signal(number, SIG_DFL)
    raise(number)
  }
}
