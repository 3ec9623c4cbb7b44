import ArgumentParser
import Satchel

/// `satchel records list`: lists matching records, or the collections.
struct RecordListCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "list",
    abstract: "List the records of a collection, or the collections.",
    discussion: """
      Prints a table of the first 100 matching records; --limit and --all change the number. The number of \
      further records is printed to the standard error. Times are in UTC, documents are JSON. A path is a \
      list of keys separated by dots, or a JSON Pointer; @id, @created, @modified, @revision and \
      @sync_status are metadata.

        satchel records list planner.satchel
        satchel records list planner.satchel courses --where '{"credits": 6}'
        satchel records list planner.satchel tasks --where '{"due": {"lt": "2027-03"}, "done": false}' --order-by due
        satchel records list planner.satchel tasks --order-by=-@modified --limit 5
        satchel records list planner.satchel tasks --all --json-lines > tasks.jsonl
        satchel records list planner.satchel notes --search "creme bru"
        satchel records list planner.satchel cafes --near 47.37,8.54,500 --where '{"open": true}'
        satchel records list planner.satchel sales --group-by 'month(at)' --sum total
        satchel records list planner.satchel sales --where '{"paid": true}' --order-by=-at --explain

      Conditions of --where: eq, ne, lt, lte, gt, gte, in, prefix, contains, exists; also any, all and not.

      --search finds the records that have all of some words in the texts that the collection declares as \
      "search", the best first; --near those within a distance of a position that it declares in "positions", \
      the nearest first. Each prints the record, and what is known of the hit.

      --group-by counts the records with the same values, and --sum adds up numbers, of each group or of all \
      records. --explain prints how the query finds, tests and sorts records, and lists none.

      --json prints an array on one line; --json-lines an object for each record, which "import" can read.

      Exit codes: 0 listed; 1 no record matches, or there are no collections; 2 could not run, for example \
      because the collection does not exist.
      """)

  @OptionGroup var arguments: KeyedStoreArguments

  @Argument(help: "The collection's name; omit it to list the collections.")
  var collection: String?

  @Option(
    name: .customLong("where"),
    help: ArgumentHelp("Only records that match: a JSON object of paths and conditions.", valueName: "json"),
    transform: condition)
  var filter: RecordFilter?

  @Option(help: ArgumentHelp("Only records with these words, the best first.", valueName: "text"))
  var search: String?

  @Option(
    parsing: .unconditional,
    help: ArgumentHelp(
      "Only records within a distance of a position, the nearest first: degrees, and metres, 5000 by default.",
      valueName: "latitude,longitude,metres"))
  var near: NearArgument?

  @Option(help: ArgumentHelp("The declared path of the positions, if there are several.", valueName: "path"))
  var path: String?

  @Option(
    parsing: .unconditionalSingleValue,
    help: ArgumentHelp(
      "The sort key, with - before it for descending order; repeatable. The default is insertion order.",
      valueName: "path"))
  var orderBy: [String] = []

  @Option(help: ArgumentHelp("The maximum number of records.", valueName: "n"))
  var limit: Int?

  @Flag(help: "List all matching records.")
  var all = false

  @Option(
    parsing: .unconditionalSingleValue,
    help: ArgumentHelp("Count the records with the same value; repeatable.", valueName: "path"))
  var groupBy: [String] = []

  @Option(
    parsing: .unconditionalSingleValue,
    help: ArgumentHelp("The sum of the numbers at a path; repeatable.", valueName: "path"))
  var sum: [String] = []

  @Flag(help: "Print how the query runs.")
  var explain = false

  @Flag(help: "Print a JSON object on a line for each record or collection.")
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
    let searches = search != nil || near != nil
    if collection == nil, filter != nil || !orderBy.isEmpty || limit != nil || all || searches || isAnswer {
      throw ValidationError(
        "--where, --order-by, --limit, --all, --search, --near, --group-by, --sum and --explain need a collection"
      )
    }
    if isGrouped, explain || searches || !orderBy.isEmpty || limit != nil || all {
      throw ValidationError("--group-by and --sum go with --where only")
    }
    if explain, searches { throw ValidationError("--explain does not go with --search and --near") }
    if search != nil, near != nil { throw ValidationError("--search and --near exclude each other") }
    if path != nil, near == nil { throw ValidationError("--path needs --near") }
    if searches, !orderBy.isEmpty {
      throw ValidationError("--order-by: the order of a search is that of its hits")
    }
  }

  private var isGrouped: Bool { !groupBy.isEmpty || !sum.isEmpty }
  private var isAnswer: Bool { isGrouped || explain }

  func run() throws {
    let store = try arguments.open()
    defer { try? store.close() }
    guard let collection else { return try listCollections(of: store) }
    let records = try RecordArguments.collection(collection, of: store)
    if isGrouped { return try listGroups(of: records) }
    if explain { return try printPlan(of: records) }
    if search != nil || near != nil { return try listHits(of: records) }
    var query = self.query
    query.limit = all ? nil : limit ?? 100
    let found = try records.list(query)
    let output = try Output()
    try output.put(try text(found))
    try output.finish()
    try printWarnings(of: records)
    let isHumanReadable = !arguments.json && !jsonLines
    if found.isEmpty {
      if isHumanReadable { Terminal.printError("no record matches") }
      throw Terminal.attention
    }
    guard isHumanReadable, found.count == query.limit, limit == nil else { return }
    let more = try records.count(self.query) - found.count
    if more > 0 { Terminal.printError("\(more) more; --all lists them") }
  }

  private func listHits(of records: RecordCollection) throws {
    let wanted = all ? nil : limit ?? 100
    // With one more, it is known whether there are others.
    let (count, heading) = (wanted.map { $0 + 1 }, search != nil ? ["path", "excerpt"] : ["metres"])
    var hits: [RecordHit] = []
    if let search {
      hits = try records.search(search, where: filter, limit: count ?? Int.max).map { RecordHit($0) }
    } else if let near {
      hits = try records.near(
        latitude: near.latitude, longitude: near.longitude, within: near.metres, path: path, where: filter,
        limit: count
      ).map { RecordHit($0) }
    }
    let shown = Array(hits.prefix(wanted ?? Int.max))
    let output = try Output()
    if arguments.json {
      try output.put(JSONValue.array(shown.map { try $0.json }).plainText + "\n")
    } else if jsonLines {
      for hit in shown { try output.put(hit.json.plainText + "\n") }
    } else if !shown.isEmpty {
      try output.put(RecordHit.table(shown, heading))
    }
    try output.finish()
    let isHumanReadable = !arguments.json && !jsonLines
    if shown.isEmpty {
      if isHumanReadable { Terminal.printError("no record matches") }
      throw Terminal.attention
    }
    if isHumanReadable, hits.count > shown.count, limit == nil {
      Terminal.printError("there are more; --all lists them")
    }
  }

  private func listGroups(of records: RecordCollection) throws {
    let groups = try records.aggregate(
      sum.map { RecordAggregate(.sum, $0) }, where: filter, groupBy: groupBy)
    let output = try Output()
    if arguments.json {
      try output.put(JSONValue.array(groups.map(\.json)).plainText + "\n")
    } else if jsonLines {
      for group in groups { try output.put(group.json.plainText + "\n") }
    } else {
      let heading = groupBy.map(\.printable) + ["records"] + sum.map { "sum of \($0.printable)" }
      let rows = try groups.map { group in
        try group.key.map { try $0.plainText } + ["\(group.count)"] + group.values.map { try $0.plainText }
      }
      try output.put(Terminal.table([heading] + rows) + "\n")
    }
    try output.finish()
    try printWarnings(of: records)
  }

  /// Prints the paths of the query that no record has.
  private func printWarnings(of records: RecordCollection) throws {
    for warning in try records.warnings where warning.hasPrefix("query: ") {
      Terminal.printError("warning: \(warning.printable)")
    }
  }

  private func printPlan(of records: RecordCollection) throws {
    var query = self.query
    query.limit = all ? nil : limit ?? 100
    let plan = try records.explain(query)
    let output = try Output()
    try output.put(try (arguments.json || jsonLines ? plan.json.plainText : plan.text.printable) + "\n")
    try output.finish()
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

  private func listCollections(of store: Store) throws {
    let collections = try store.collections()
    let output = try Output()
    if arguments.json {
      try output.put(JSONValue.array(collections.map(\.json)).plainText + "\n")
    } else if jsonLines {
      for collection in collections { try output.put(collection.json.plainText + "\n") }
    } else if collections.isEmpty {
      Terminal.printError("\(arguments.store.printable): has no collections")
    } else {
      try output.put(Terminal.table(CollectionTable.rows(of: collections)) + "\n")
      for collection in collections {
        for warning in collection.warnings {
          Terminal.printError("\(collection.name): schema: \(warning.printable)")
        }
      }
    }
    try output.finish()
    if collections.isEmpty { throw Terminal.attention }
  }
}

/// Formats collections as a table.
private enum CollectionTable {
  static func rows(of collections: [CollectionInfo]) -> [[String]] {
    let heading = ["collection", "records", "version", "sync", "indexes", "relations"]
    return [heading]
      + collections.map { collection in
        [
          collection.name, "\(collection.count)", "\(collection.version)",
          collection.isSynced ? collection.onConflict.rawValue : "-",
          list(indexes(collection.indexes)), list(relations(collection.relations)),
        ]
      }
  }

  private static func list(_ items: [String]) -> String {
    items.isEmpty ? "-" : items.joined(separator: ", ").printable
  }

  private static func indexes(_ json: JSONValue) -> [String] {
    (json.arrayValue ?? []).map { index in
      let isUnique = index["unique"]?.boolValue ?? false
      let several = (index["paths"]?.arrayValue ?? []).compactMap(\.stringValue).joined(separator: "+")
      return (index["path"]?.stringValue ?? several) + (isUnique ? " (unique)" : "")
    }
  }

  private static func relations(_ json: JSONValue) -> [String] {
    (json.objectValue ?? JSONObject()).map { path, relation in
      let target = relation["collection"]?.stringValue ?? ""
      return "\(path) to \(target) (\(relation["on_delete"]?.stringValue ?? ""))"
    }
  }
}

extension Record {
  /// The record as an entry of a mirror file.
  var mirrored: MirrorRecord {
    MirrorRecord(id: id, revision: revision, created: created, modified: modified, document: body)
  }
}
