import Satchel
import Synchronization

/// The signal that came, or 0. Global, since a handler of signals captures nothing.
private let signalled = Atomic<CInt>(0)

/// Ctrl-C, and what else asks the tool to stop: a wish that long work hears, so that it stops where all is sound.
/// The second one ends the tool at once.
enum Interruption {
  static var isWanted: Bool { signalled.load(ordering: .relaxed) != 0 }

  /// From now on signals are wishes. One that the tool was started to ignore stays ignored, as behind nohup.
  static func listen() {
    // Made now, since a handler of signals makes nothing.
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

  /// Ends the tool by the signal that came, if one did: so the shell that started it learns why, and stops its own
  /// loops.
  static func obey() {
    let number = signalled.load(ordering: .relaxed)
    guard number != 0 else { return }
    signal(number, SIG_DFL)
    raise(number)
  }
}
