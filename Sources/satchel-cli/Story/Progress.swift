import Satchel

/// A bar on the standard error, for a person who watches something that takes a while.
struct Progress {
  private let total: Int
  private let isWanted: Bool
  private let began = ContinuousClock.now
  private var latest: ContinuousClock.Instant?
  private var isShown = false
  private var done = 0

  /// What ends sooner shows no bar, and a bar is not drawn more often than the eye sees.
  private static let patience = Duration.milliseconds(400)
  private static let interval = Duration.milliseconds(80)
  private static let width = 30

  /// - Parameter isQuiet: never show one
  init(total: Int, isQuiet: Bool = false) {
    self.total = total
    isWanted = !isQuiet && Terminal.isTerminal(STDERR_FILENO)
  }

  mutating func step() {
    done += 1
    guard isWanted else { return }
    let now = ContinuousClock.now
    guard now - began > Self.patience, latest.map({ now - $0 > Self.interval }) ?? true else { return }
    (latest, isShown) = (now, true)
    let filled = Self.width * done / max(1, total)
    let bar = String(repeating: "█", count: filled) + String(repeating: "░", count: Self.width - filled)
    Terminal.say("\r\(bar) \(done) of \(total)", to: STDERR_FILENO)
  }

  /// Takes the bar away, so that lines can be written.
  mutating func clear() {
    guard isShown else { return }
    Terminal.say("\r\u{1B}[K", to: STDERR_FILENO)
    isShown = false
  }
}
