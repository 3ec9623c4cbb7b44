import ArgumentParser
import Satchel
import Synchronization

/// `satchel store observe`: prints changes of a store when they are made.
struct StoreObserveCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "observe",
    abstract: "Print each change of a store, by any app, until it is interrupted.",
    discussion: """
      Prints a line for each subject that a commit changed: the commit's revision, the subject, the place or \
      the directory of photos if there is one, and the names of what changed. With --json, each line is a JSON \
      object. Starts with a line on the standard error. Reads the store only.

        satchel store observe planner.satchel
        satchel store observe planner.satchel --json >> changes.jsonl
        satchel store observe planner.satchel --limit 1 && satchel sync planner.satchel --user ana --remote s3://planner

      Ctrl-C ends it.

      Exit codes: 0 printed --limit changes; 2 could not run.
      """)

  @OptionGroup var arguments: StoreArguments

  @Option(help: ArgumentHelp("End after this number of changes.", valueName: "n"))
  var limit: Int?

  @Flag(name: [.short, .long], help: "Print nothing at the start.")
  var quiet = false

  /// The interval at which found changes are printed, in microseconds.
  private static let interval: UInt32 = 50_000

  func validate() throws {
    if let limit, limit < 1 { throw ValidationError("--limit: \(limit) is less than 1") }
  }

  func run() throws {
    Interruption.installHandlers()
    let store = try arguments.open()
    defer { try? store.close() }
    let queue = Queue()
    let observation = try store.observe { queue.append($0) }
    defer { observation.cancel() }
    if !quiet { Terminal.printError("\(arguments.store.printable): observed until Ctrl-C") }
    let output = try Output()
    var printed = 0
    while !Interruption.isRequested {
      for change in queue.take() where printed < limit ?? .max {
        try output.put(arguments.json ? change.json.plainText + "\n" : Self.text(change) + "\n")
        printed += 1
      }
      try output.flush()
      if printed == limit { return }
      usleep(Self.interval)
    }
    observation.cancel()
    try store.close()
    Interruption.raiseSignal()
  }

  private static func text(_ change: Change) -> String {
    let place = change.place.map { "  \($0)" } ?? ""
    let names = change.concernsAll ? "all" : change.keys.joined(separator: ", ")
    return "\(change.revision)  \(change.subject)\(place)  \(names)".printable
  }
}

/// Changes that were found and not printed yet.
private final class Queue: Sendable {
  private let changes = Mutex<[Change]>([])

  func append(_ change: Change) { changes.withLock { $0.append(change) } }

  func take() -> [Change] {
    changes.withLock { changes in
      defer { changes = [] }
      return changes
    }
  }
}
