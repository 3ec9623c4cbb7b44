import ArgumentParser
import Satchel

/// `satchel records list`: the records that fit, or the collections.
struct RecordListCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "list",
    abstract: "List records, or without a collection the collections.",
    discussion: """
      A table, the first 100 unless --limit or --all says otherwise; how many more there are stands on the standard \
      error. Times are in UTC, and documents JSON. A path is keys with dots between, or a JSON Pointer; @id, \
      @created, @modified, @revision and @sync_status are the record's own.

        satchel records list planner.satchel
        satchel records list planner.satchel courses --where '{"credits": 6}'
        satchel records list planner.satchel tasks --where '{"due": {"lt": "2027-03"}, "done": false}' --order-by due
        satchel records list planner.satchel tasks --order-by=-@modified --limit 5
        satchel records list planner.satchel tasks --all --json-lines > tasks.jsonl

      Conditions of --where: eq, ne, lt, lte, gt, gte, in, prefix, contains, exists; "any", "all" and "not" combine.

      With --json an array on one line; with --json-lines a line for each record, which "import" takes.

      Exit codes: 0 listed; 1 no record fits, or there are no collections; 2 could not run, as when there is no such \
      collection.
      """)

  @OptionGroup var arguments: StoreArguments

  @Argument(help: "The collection's name; without it, the collections are listed.")
  var collection: String?

  @Option(
    name: .customLong("where"),
    help: ArgumentHelp("Only records that fit: a JSON object of paths and conditions.", valueName: "json"),
    transform: condition)
  var filter: RecordFilter?

  @Option(
    parsing: .unconditionalSingleValue,
    help: ArgumentHelp(
      "What to sort by, - before it for last first; may be given several times. As they arrived, without.",
      valueName: "path"))
  var orderBy: [String] = []

  @Option(help: ArgumentHelp("How many at most.", valueName: "n"))
  var limit: Int?

  @Flag(help: "All, however many.")
  var all = false

  @Flag(help: "Print a line of JSON for each.")
  var jsonLines = false

  private static func condition(_ text: String) throws -> RecordFilter {
    do {
      return try RecordFilter(json: JSONValue(parsing: text))
    } catch {
      throw ValidationError("--where: \(error)")
    }
  }

  func validate() throws {
    if let limit, limit < 1 { throw ValidationError("--limit: \(limit) is less than 1") }
    if limit != nil, all { throw ValidationError("--limit and --all exclude each other") }
    if arguments.json, jsonLines { throw ValidationError("--json and --json-lines exclude each other") }
    if collection == nil, filter != nil || !orderBy.isEmpty || limit != nil || all {
      throw ValidationError("--where, --order-by, --limit and --all need a collection")
    }
  }

  func run() throws {
    let store = try arguments.open()
    defer { try? store.close() }
    guard let collection else { return try listCollections(of: store) }
    let records = try RecordArguments.collection(collection, of: store)
    var query = self.query
    query.limit = all ? nil : limit ?? 100
    let found = try records.list(query)
    let output = try Output()
    try output.put(try text(found))
    try output.finish()
    let isForPeople = !arguments.json && !jsonLines
    if found.isEmpty {
      if isForPeople { Terminal.complain("no record fits") }
      throw Terminal.attention
    }
    guard isForPeople, found.count == query.limit, limit == nil else { return }
    let more = try records.count(self.query) - found.count
    if more > 0 { Terminal.complain("\(more) more; --all lists them") }
  }

  private var query: RecordQuery {
    let order = orderBy.map { text in
      text.utf8.first == UInt8(ascii: "-")
        ? RecordQuery.Order(String(text.dropFirst()), descending: true) : RecordQuery.Order(text)
    }
    return RecordQuery(filter, order: order)
  }

  private func text(_ records: [Record]) throws -> String {
    if arguments.json { return try JSONValue.array(records.map { try $0.json }).plainText + "\n" }
    if jsonLines { return try records.map { try $0.json.plainText + "\n" }.joined() }
    guard !records.isEmpty else { return "" }
    var rows = [["id", "revision", "modified", "sync", "document"]]
    for record in records {
      rows.append([
        record.id.printable, "\(record.revision)", Terminal.time(record.modified), record.syncStatus.rawValue,
        try record.document.plainText,
      ])
    }
    return Terminal.table(rows) + "\n"
  }

  private func listCollections(of store: Satchel) throws {
    let collections = try store.collections()
    let output = try Output()
    if arguments.json {
      try output.put(JSONValue.array(collections.map(\.json)).plainText + "\n")
    } else if jsonLines {
      for collection in collections { try output.put(collection.json.plainText + "\n") }
    } else if collections.isEmpty {
      Terminal.complain("\(arguments.store.printable): has no collections")
    } else {
      try output.put(Terminal.table(CollectionTable.rows(of: collections)) + "\n")
    }
    try output.finish()
    if collections.isEmpty { throw Terminal.attention }
  }
}
