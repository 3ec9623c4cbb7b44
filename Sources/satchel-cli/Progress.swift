import Satchel

/// How far something has come that takes a while, on the standard error: a bar for a person who watches, and now and
/// then a line where nobody does.
struct Progress: Sendable {
  private let total: Int?
  private let isQuiet: Bool
  private let isWatched: Bool
  private let began = ContinuousClock.now
  private var latest: ContinuousClock.Instant?
  private var isShown = false
  private var done = 0

  /// What ends sooner shows no bar, and a bar is not drawn more often than the eye sees.
  private static let patience = Duration.milliseconds(400)
  private static let interval = Duration.milliseconds(80)
  /// The same for lines: a log is read afterwards.
  private static let lineInterval = Duration.seconds(10)
  private static let width = 30

  /// - Parameters:
  ///   - total: what `step()` counts up to
  ///   - isQuiet: never show anything
  init(total: Int? = nil, isQuiet: Bool = false) {
    self.total = total
    self.isQuiet = isQuiet
    isWatched = Terminal.isTerminal(STDERR_FILENO)
  }

  mutating func step() {
    done += 1
    show(done, of: total)
  }

  /// - Parameters:
  ///   - total: nil while it is not known
  ///   - note: more for a person to know, on the same line
  mutating func show(_ done: Int, of total: Int?, note: String = "") {
    guard !isQuiet else { return }
    let now = ContinuousClock.now
    let (patience, interval) =
      isWatched ? (Self.patience, Self.interval) : (Self.lineInterval, Self.lineInterval)
    guard now - began > patience, latest.map({ now - $0 > interval }) ?? true else { return }
    latest = now
    let count = total.map { "\(done) of \($0)" } ?? "\(done)"
    let text = note.isEmpty ? count : "\(count), \(note)"
    guard isWatched else { return Terminal.complain(text) }
    isShown = true
    Terminal.say("\r\u{1B}[K\(total.map { Self.bar(done, of: $0) + " " } ?? "")\(text)", to: STDERR_FILENO)
  }

  /// Takes the bar away, so that lines can be written.
  mutating func clear() {
    guard isShown else { return }
    Terminal.say("\r\u{1B}[K", to: STDERR_FILENO)
    isShown = false
  }

  private static func bar(_ done: Int, of total: Int) -> String {
    let filled = width * min(max(0, done), max(1, total)) / max(1, total)
    return String(repeating: "█", count: filled) + String(repeating: "░", count: width - filled)
  }
}
