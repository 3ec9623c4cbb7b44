import SatchelStorage

/// A process, told from all others, also from those that get its number later.
struct ProcessIdentity: Equatable, Sendable {
  /// Changes with every start of the machine.
  var boot: String
  var number: Int32
  /// When it was started, as the system counts.
  var start: String

  static let current = ProcessIdentity(
    boot: ProcessPlatform.boot, number: getpid(), start: ProcessPlatform.start(of: getpid()) ?? "")

  init(boot: String, number: Int32, start: String) {
    self.boot = boot
    self.number = number
    self.start = start
  }

  /// Reads what `text` gave.
  init?(text: String) {
    let parts = text.split(separator: " ", omittingEmptySubsequences: false)
    guard parts.count == 3, let number = Int32(parts[1]), number > 0 else { return nil }
    self.init(boot: String(parts[0]), number: number, start: String(parts[2]))
  }

  var text: String { "\(boot) \(number) \(start)" }

  /// Whether it still runs. In doubt it does.
  var isAlive: Bool {
    if boot != Self.current.boot { return false }
    if kill(number, 0) != 0, errno == ESRCH { return false }
    guard let start = ProcessPlatform.start(of: number) else { return true }
    return start == self.start
  }
}
