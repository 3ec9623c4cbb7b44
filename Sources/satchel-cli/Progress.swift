import Satchel

/// Shows the progress of an operation on the standard error: a bar on a terminal, an occasional line
/// otherwise.
struct Progress: Sendable {
  private let total: Int?
  private let isQuiet: Bool
  private let isInteractive: Bool
  private let began = ContinuousClock.now
  private var latest: ContinuousClock.Instant?
  private var isShown = false
  private var done = 0

  /// The time before the first bar, and the minimum time between two bars.
  private static let delay = Duration.milliseconds(400)
  private static let interval = Duration.milliseconds(80)
  /// The time before the first line, and between two lines.
  private static let lineInterval = Duration.seconds(10)
  private static let width = 30

  /// - Parameters:
  ///   - total: the number of `step()` calls to expect
  ///   - isQuiet: whether to show nothing
  init(total: Int? = nil, isQuiet: Bool = false) {
    self.total = total
    self.isQuiet = isQuiet
    isInteractive = Terminal.isTerminal(STDERR_FILENO)
  }

  /// Counts one step and shows the progress.
  mutating func step() {
    done += 1
    show(done, of: total)
  }

  /// Shows the progress.
  ///
  /// - Parameters:
  ///   - done: nil while there is nothing to count
  ///   - total: nil while unknown
  ///   - note: additional text on the same line
  mutating func show(_ done: Int?, of total: Int?, note: String = "") {
    guard !isQuiet else { return }
    let now = ContinuousClock.now
    let (delay, interval) =
      isInteractive ? (Self.delay, Self.interval) : (Self.lineInterval, Self.lineInterval)
    guard now - began > delay, latest.map({ now - $0 > interval }) ?? true else { return }
    latest = now
    let count = done.map { done in total.map { "\(done) of \($0)" } ?? "\(done)" }
    let text = [count, note.isEmpty ? nil : note].compactMap { $0 }.joined(separator: ", ")
    guard isInteractive else { return Terminal.printError(text) }
    isShown = true
    let bar = total.map { Self.bar(done ?? 0, of: $0) + " " } ?? ""
    Terminal.put("\r\u{1B}[K\(bar)\(text)", to: STDERR_FILENO)
  }

  /// Erases the bar, so that other lines can be printed.
  mutating func clear() {
    guard isShown else { return }
    Terminal.put("\r\u{1B}[K", to: STDERR_FILENO)
    isShown = false
  }

  private static func bar(_ done: Int, of total: Int) -> String {
    let filled = width * min(max(0, done), max(1, total)) / max(1, total)
    return String(repeating: "█", count: filled) + String(repeating: "░", count: width - filled)
  }
}
