import ArgumentParser
import Satchel

/// `satchel records conflicts`: lists the conflicts of records, or resolves one.
struct RecordConflictsCommand: ParsableCommand {
  enum Side: String, ExpressibleByArgument, CaseIterable {
    case local, remote
  }

  static let configuration = CommandConfiguration(
    commandName: "conflicts",
    abstract: "List the conflicts that syncs left, or resolve one.",
    discussion: """
      Lists each conflict with its number, kind, time and record, and the versions of the record:

        open     both sides changed the record, and you have to decide
        waiting  the remote version cannot be applied yet, with the reason; often a later sync applies it
        lost     a version was discarded, by the collection's policy or with a deleted record: see "lost"

      Nothing is overwritten before you decide. A resolution becomes the record's document, and the next sync \
      sends it; "--document null" deletes the record. For a lost version, keeping the other one only removes it \
      from the list.

        satchel records conflicts planner.satchel
        satchel records conflicts planner.satchel courses
        satchel records conflicts planner.satchel --resolve 3 --keep local
        satchel records conflicts planner.satchel --resolve 3 --document '{"title": "Algebra"}'

      Exit codes: 0 no conflicts, or the conflict was resolved; 1 there are conflicts, or the given one does \
      not exist or cannot be resolved so; 2 could not run.
      """)

  @OptionGroup var arguments: KeyedStoreArguments

  @Argument(help: "Only the conflicts of this collection.")
  var collection: String?

  @Option(help: ArgumentHelp("Resolve the conflict with this number.", valueName: "number"))
  var resolve: Int64?

  @Option(help: ArgumentHelp("The version to keep.", valueName: "side"))
  var keep: Side?

  @Option(
    help: ArgumentHelp(
      "The document to write instead of both versions; - is the standard input, null deletes the record.",
      valueName: "json"))
  var document: String?

  func validate() throws {
    if keep != nil, document != nil { throw ValidationError("--keep and --document exclude each other") }
    let hasResolution = keep != nil || document != nil
    if resolve == nil, hasResolution { throw ValidationError("--keep and --document need --resolve") }
    if resolve != nil, !hasResolution { throw ValidationError("--resolve needs --keep or --document") }
  }

  func run() throws {
    if let resolve { try run(resolving: resolve, as: resolution()) } else { try list() }
  }

  // MARK: Listing

  private func list() throws {
    let store = try arguments.open()
    defer { try? store.close() }
    let found = try collections(of: store).flatMap { records in
      try records.allConflicts().map { FoundConflict(collection: records.name, conflict: $0) }
    }.sorted { $0.conflict.id < $1.conflict.id }
    let output = try Output()
    if arguments.json {
      try output.put(JSONValue.array(found.map(\.json)).plainText + "\n")
    } else if found.isEmpty {
      try output.put("no conflicts\n")
    } else {
      for conflict in found { try output.put(conflict.text) }
    }
    try output.finish()
    if !found.isEmpty { throw Terminal.attention }
  }

  private func collections(of store: Store) throws -> [RecordCollection] {
    if let collection { return [try RecordArguments.collection(collection, of: store)] }
    return try store.collections().map { try store.records($0.name) }
  }

  // MARK: Resolving

  private func resolution() throws -> RecordResolution {
    if let keep { return keep == .local ? .keepLocal : .keepRemote }
    let input = try JSONInput(document ?? "", as: "--document")
    let value = try input.value
    if value.isNull { return .delete }
    try input.checkObject()
    return .document(value)
  }

  private func run(resolving number: Int64, as resolution: RecordResolution) throws {
    let found = try arguments.change { store in
      for records in try collections(of: store) {
        guard let conflict = try records.conflict(number) else { continue }
        try records.resolve(number, resolution)
        return Optional(FoundConflict(collection: records.name, conflict: conflict))
      }
      return nil
    }
    guard let found else {
      Terminal.printError("there is no conflict \(number)")
      throw Terminal.attention
    }
    let output = try Output()
    let json: JSONValue = [
      "resolved": .int(number), "collection": .string(found.collection),
      "record": .string(found.conflict.record),
    ]
    try output.put((arguments.json ? json.plainText : "\(found.name): conflict \(number) resolved") + "\n")
    try output.finish()
  }
}

/// A conflict and the collection of its record.
private struct FoundConflict {
  let collection: String
  let conflict: RecordConflict

  var name: String { "\(collection)/\(conflict.record)".printable }

  var json: JSONValue {
    var json = conflict.json.objectValue ?? JSONObject()
    json["collection"] = .string(collection)
    return .object(json)
  }

  /// A heading, and a line for each version.
  var text: String {
    get throws {
      let kind = conflict.kind.rawValue
      let heading = "\(conflict.id)  \(kind)  \(Terminal.time(conflict.time))  \(name)"
      var rows = [
        ["", "local", try Self.version(conflict.local)], ["", "remote", try Self.version(conflict.remote)],
      ]
      if let base = conflict.base { rows.append(["", "base", try base.plainText]) }
      if let side = conflict.side { rows.append(["", "lost", side.rawValue]) }
      if let reason = conflict.reason { rows.append(["", "reason", reason]) }
      return heading + "\n" + Terminal.table(rows) + "\n"
    }
  }

  private static func version(_ document: JSONValue?) throws -> String {
    try document?.plainText ?? "no record"
  }
}

extension RecordCollection {
  /// Returns all conflicts, oldest first.
  fileprivate func allConflicts() throws -> [RecordConflict] {
    var conflicts: [RecordConflict] = []
    while true {
      let page = try self.conflicts(after: conflicts.last?.id ?? 0, limit: 1000)
      conflicts += page
      if page.count < 1000 { return conflicts }
    }
  }

  fileprivate func conflict(_ number: Int64) throws -> RecordConflict? {
    guard number > 0 else { return nil }
    return try conflicts(after: number - 1, limit: 1).first { $0.id == number }
  }
}
