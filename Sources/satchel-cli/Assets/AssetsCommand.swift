import ArgumentParser
import Satchel

/// `satchel assets`.
struct AssetsCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "assets",
    abstract: "List, read, put, prune and verify the assets of a store: pictures, sounds, files.",
    discussion: """
      An asset is immutable bytes, named by their SHA-256, to which documents refer. Those above 64 KiB are \
      files in the folder STORE.assets next to the store.

        satchel assets list planner.satchel
        satchel assets put planner.satchel photo.jpg --type image/jpeg
        satchel assets prune planner.satchel --max-bytes 500000000
        satchel assets verify planner.satchel
      """,
    subcommands: [
      AssetListCommand.self, AssetGetCommand.self, AssetPutCommand.self, AssetPruneCommand.self,
      AssetVerifyCommand.self,
    ])
}

/// `satchel assets list`: lists the assets that a store has or refers to.
struct AssetListCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "list",
    abstract: "List the assets that a store has or refers to.",
    discussion: """
      Prints a table of the first 100 assets, in the order in which the store learned of them; --limit and \
      --all change the number. "here" are those whose bytes are in the store; "remote" can be fetched from a \
      URL; "missing" are nowhere that is known. References are the documents, entities and sections that \
      refer to it. Times are in UTC.

        satchel assets list planner.satchel
        satchel assets list planner.satchel --unused --all
        satchel assets list planner.satchel --state here --json

      --json prints an array on one line; --json-lines an object for each asset.

      Exit codes: 0 listed; 1 no asset matches; 2 could not run.
      """)

  @OptionGroup var arguments: StoreArguments

  @Option(help: ArgumentHelp("Only assets in this state: here, remote or missing.", valueName: "state"))
  var state: AssetState?

  @Flag(help: "Only assets to which nothing refers.")
  var unused = false

  @Option(help: ArgumentHelp("The maximum number of assets.", valueName: "n"))
  var limit: Int?

  @Flag(help: "List all matching assets.")
  var all = false

  @Flag(help: "Print a JSON object on a line for each asset.")
  var jsonLines = false

  func validate() throws {
    if let limit, limit < 1 { throw ValidationError("--limit: \(limit) is less than 1") }
    if limit != nil, all { throw ValidationError("--limit and --all exclude each other") }
    if arguments.json, jsonLines { throw ValidationError("--json and --json-lines exclude each other") }
  }

  func run() throws {
    let store = try arguments.open()
    defer { try? store.close() }
    let (found, hasMore) = try entries(of: store.assets)
    let output = try Output()
    if arguments.json {
      try output.put(JSONValue.array(found.map(\.json)).plainText + "\n")
    } else if jsonLines {
      for entry in found { try output.put(entry.json.plainText + "\n") }
    } else if !found.isEmpty {
      try output.put(Terminal.table(Self.rows(of: found)) + "\n")
    }
    try output.finish()
    let isHumanReadable = !arguments.json && !jsonLines
    if found.isEmpty {
      if isHumanReadable { Terminal.printError("no asset matches") }
      throw Terminal.attention
    }
    if isHumanReadable, hasMore, limit == nil { Terminal.printError("there are more; --all lists them") }
  }

  private func entries(of assets: AssetStore) throws -> (found: [AssetEntry], hasMore: Bool) {
    let maximum = all ? Int.max : limit ?? 100
    var (found, cursor): ([AssetEntry], String?) = ([], nil)
    repeat {
      let page = try assets.list(
        state: state, unused: unused ? true : nil, after: cursor, limit: min(1000, maximum - found.count))
      found += page.assets
      cursor = page.cursor
    } while cursor != nil && found.count < maximum
    return (found, cursor != nil)
  }

  private static func rows(of entries: [AssetEntry]) -> [[String]] {
    [["sha256", "size", "state", "references", "used"]]
      + entries.map { entry in
        [
          entry.sha256 ?? "-", entry.size.map(Terminal.bytes) ?? "-", entry.state.rawValue,
          entry.isVariant ? "variant" : "\(entry.references)", entry.usedAt.map { Terminal.time($0) } ?? "-",
        ]
      }
  }
}

extension AssetState: ExpressibleByArgument {}

/// `satchel assets prune`: removes the bytes of assets that are not needed.
struct AssetPruneCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "prune",
    abstract: "Remove the bytes of assets to which nothing refers.",
    discussion: """
      With --max-bytes, assets that can be had again are removed until all together have at most so many \
      bytes: variants first, then what only the catalogue refers to and was fetched from URLs, then what is in \
      the remote and no unsent change refers to, of each the least recently used first. Never removed are the only known copies of what is referred to, and what was put, \
      dropped or read within the last hour.

        satchel assets prune planner.satchel
        satchel assets prune planner.satchel --max-bytes 500000000

      Exit codes: 0 pruned, or nothing to prune; 2 could not run.
      """)

  @OptionGroup var arguments: StoreArguments

  @Option(help: ArgumentHelp("The maximum size of all assets.", valueName: "n"))
  var maxBytes: Int64?

  func validate() throws {
    if let maxBytes, maxBytes < 0 { throw ValidationError("--max-bytes: \(maxBytes) is negative") }
  }

  func run() throws {
    let report = try arguments.change { try $0.assets.prune(maxBytes: maxBytes) }
    if arguments.json { return try Terminal.print(json: report.json) }
    print("Removed \(Terminal.count(report.removed, "asset")): \(report.removedBytes) bytes.")
    print("\(report.bytes) bytes are kept, \(report.onlyCopies) of them as the only known copies.")
    if report.recent > 0 { print("\(report.recent) bytes are kept because they were used within an hour.") }
    if report.pinnedBytes > 0 {
      print("Offline regions keep \(report.pinnedBytes) bytes of what was selected.")
    }
    if report.overBudget > 0 { print("That is \(report.overBudget) bytes more than the budget.") }
    if report.waitingFiles > 0 {
      let files = Terminal.count(report.waitingFiles, "file")
      print("The next prune deletes \(files): the folder is in use.")
    }
  }
}
