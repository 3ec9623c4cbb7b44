import ArgumentParser
import Satchel

/// `satchel story progress`: shows how far readers are.
struct StoryProgressCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "progress",
    abstract: "Show what readers of a library can continue, or how far one is in a story.",
    discussion: """
      Without a story, lists the positions that are not endings, the one that was read last first; --reader \
      shows those of one reader. With a story, shows the progress of a reader in a slot, by default of the \
      reader and the slot without a name. The store is not changed: files that the app has not read yet are \
      read into memory.

        satchel story progress planner.satchel stories/
        satchel story progress planner.satchel stories/ frau-holle --reader Mia --json

      Exit codes: 0 shown; 1 nothing was begun; 2 could not run.
      """)

  @OptionGroup var arguments: StoreArguments

  @Argument(help: "The directory of the library.", completion: .directory)
  var directory: String

  @Argument(help: "The id of a story.")
  var story: String?

  @Option(help: "The name of a reader.")
  var reader: String?

  @Option(help: "The name of one of the reader's slots.")
  var slot: String?

  @Option(help: "The name of the library; the default is the last component of the directory's real path.")
  var name: String?

  func validate() throws {
    if slot != nil, story == nil { throw ValidationError("--slot needs a story") }
  }

  func run() throws {
    let store = try arguments.open()
    defer { try? store.close() }
    let library = try store.stories(in: directory, named: name)
    let found: [StoryProgress]
    if let story {
      let progress = try library.progress(of: story, in: ReadingSlot(reader: reader ?? "", slot: slot ?? ""))
      found = progress.position == nil && progress.data.isNull ? [] : [progress]
    } else {
      found = try library.begun(by: reader)
    }
    let output = try Output()
    if arguments.json {
      try output.put(JSONValue.array(found.map(\.json)).plainText + "\n")
    } else if !found.isEmpty {
      try output.put(Terminal.table([Self.heading] + found.map(Self.row)) + "\n")
    }
    try output.finish()
    guard found.isEmpty else { return }
    if !arguments.json { Terminal.printError("\(library.name.printable): nothing was begun") }
    throw Terminal.attention
  }

  private static let heading = ["story", "reader", "slot", "position", "visited", "endings", "read"]

  private static func row(_ progress: StoryProgress) -> [String] {
    [
      progress.story, progress.slot.reader, progress.slot.slot, progress.position ?? "–",
      "\(progress.visited.count)", "\(progress.endings.count)",
      progress.readAt.map { Terminal.time($0) } ?? "–",
    ]
  }
}
