import ArgumentParser
import Satchel

/// `satchel conflicts`.
struct ConflictsCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "conflicts",
    abstract: "List and resolve the conflicts that synchronizations and imports left.",
    discussion: """
        satchel conflicts planner.satchel
        satchel conflicts resolve planner.satchel 3 --keep local
        satchel conflicts resolve planner.satchel 3 --document '{"title": "Algebra"}'
        satchel conflicts resolve guide.satchel --photos ~/Pictures --all --keep remote
      """,
    subcommands: [ConflictListCommand.self, ConflictResolveCommand.self],
    defaultSubcommand: ConflictListCommand.self)
}

/// The conflicts that a command is about.
struct ConflictFilter: ParsableArguments {
  @Option(help: ArgumentHelp("Only the conflicts of this collection of records.", valueName: "name"))
  var collection: String?

  @Option(
    help: ArgumentHelp("Only the conflicts of the photos of this directory.", valueName: "directory"),
    completion: .directory)
  var photos: String?

  func validate() throws {
    if collection != nil, photos != nil {
      throw ValidationError("--collection and --photos exclude each other")
    }
  }

  /// Returns the conflicts of a store, oldest first.
  ///
  /// - Throws: `SatchelError` `.notFound` for a collection or catalogue that the store does not have
  func conflicts(of store: Store) throws -> [ConflictEntry] {
    let read: (Int64) throws -> [ConflictEntry]
    if let collection {
      let records = try RecordArguments.collection(collection, of: store)
      read = { try records.conflicts(after: $0, limit: 1000) }
    } else if let photos {
      let catalogue = try store.photos(in: photos)
      read = { try catalogue.conflicts(after: $0, limit: 1000) }
    } else {
      read = { try store.conflicts(after: $0, limit: 1000) }
    }
    var conflicts: [ConflictEntry] = []
    while true {
      let page = try read(conflicts.last?.id ?? 0)
      conflicts += page
      if page.count < 1000 { return conflicts }
    }
  }
}

/// `satchel conflicts list`.
struct ConflictListCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "list",
    abstract: "List the conflicts, oldest first.",
    discussion: """
      Shows each conflict with its number, kind, time and record or photo, and its versions; of photos, the \
      members that differ:

        open     both sides changed the record, and you have to decide
        waiting  the remote version cannot be applied yet, with the reason; often a later sync applies it
        lost     a version was discarded, by the policy, with a deleted record or by an imported file: see "lost"

      Nothing is overwritten before you decide.

        satchel conflicts list planner.satchel
        satchel conflicts list planner.satchel --collection courses
        satchel conflicts list guide.satchel --photos ~/Pictures --json

      Exit codes: 0 no conflicts; 1 there are conflicts; 2 could not run.
      """)

  @OptionGroup var arguments: KeyedStoreArguments
  @OptionGroup var filter: ConflictFilter

  func run() throws {
    let store = try arguments.open()
    defer { try? store.close() }
    let found = try filter.conflicts(of: store)
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
}

/// `satchel conflicts resolve`.
struct ConflictResolveCommand: ParsableCommand {
  enum Side: String, ExpressibleByArgument, CaseIterable {
    case local, remote
  }

  static let configuration = CommandConfiguration(
    commandName: "resolve",
    abstract: "Decide about conflicts, which removes them from the list.",
    discussion: """
      The version that you keep, or the document that you give, becomes the record's document or the photo's row, \
      and the next sync sends it; "--document null" deletes it. For a lost version, keeping the other one only \
      removes it from the list.

        satchel conflicts resolve planner.satchel 3 --keep local
        satchel conflicts resolve planner.satchel 3 --document '{"title": "Algebra"}'
        satchel conflicts resolve guide.satchel --photos ~/Pictures --all --keep local

      Exit codes: 0 resolved; 1 some conflicts do not exist or cannot be resolved so, or the list is empty; 2 \
      could not run.
      """)

  @OptionGroup var arguments: KeyedStoreArguments
  @OptionGroup var filter: ConflictFilter

  @Argument(help: ArgumentHelp("The conflicts' numbers, as \"list\" shows them.", valueName: "number"))
  var numbers: [Int64] = []

  @Flag(help: "All conflicts, oldest first.")
  var all = false

  @Option(help: ArgumentHelp("The version to keep.", valueName: "side"))
  var keep: Side?

  @Option(
    help: ArgumentHelp(
      "The document to write instead of both versions; - is the standard input, null deletes the record or photo.",
      valueName: "json"))
  var document: String?

  func validate() throws {
    if all == !numbers.isEmpty { throw ValidationError("give either the numbers of conflicts or --all") }
    if (keep == nil) == (document == nil) { throw ValidationError("give either --keep or --document") }
    if document != nil, all || numbers.count > 1 {
      throw ValidationError("--document resolves one conflict")
    }
  }

  func run() throws {
    let resolution = try resolution()
    var (resolved, missing): ([ConflictEntry], [Int64]) = ([], [])
    try arguments.change { store in
      let found = try filter.conflicts(of: store)
      for number in all ? found.map(\.id) : numbers {
        guard let conflict = found.first(where: { $0.id == number }) else {
          missing.append(number)
          continue
        }
        switch conflict.item {
        case .record(let collection, _):
          try RecordArguments.collection(collection, of: store).resolve(number, resolution)
        case .photo(let directory, _): try store.photos(in: directory).resolve(number, resolution)
        }
        resolved.append(conflict)
      }
    }
    let output = try Output()
    if arguments.json {
      let json: JSONValue = [
        "resolved": .array(resolved.map { .int($0.id) }), "missing": .array(missing.map { .int($0) }),
      ]
      try output.put(json.plainText + "\n")
    } else {
      for conflict in resolved { try output.put("\(conflict.name): conflict \(conflict.id) resolved\n") }
    }
    try output.finish()
    for number in missing { Terminal.printError("there is no conflict \(number)") }
    if resolved.isEmpty || !missing.isEmpty { throw Terminal.attention }
  }

  private func resolution() throws -> ConflictResolution {
    if let keep { return keep == .local ? .keepLocal : .keepRemote }
    let input = try JSONInput(document ?? "", as: "--document")
    let value = try input.value
    if value.isNull { return .delete }
    try input.checkObject()
    return .document(value)
  }
}

extension ConflictEntry {
  /// "collection/id" or "directory/MD5".
  fileprivate var name: String {
    switch item {
    case .record(let collection, let id): "\(collection)/\(id)".printable
    case .photo(let directory, let md5): "\(directory)/\(md5)".printable
    }
  }

  /// A heading, and a line for each version.
  fileprivate var text: String {
    get throws {
      var rows = [["", "local", try version(local)], ["", "remote", try version(remote)]]
      if base != nil { rows.append(["", "base", try version(base)]) }
      if let side { rows.append(["", "lost", side.name + (cause == .import ? ", to an import" : "")]) }
      if let reason { rows.append(["", "reason", reason]) }
      return "\(id)  \(kind.name)  \(Terminal.time(time))  \(name)\n" + Terminal.table(rows) + "\n"
    }
  }

  /// A document; of a photo, what is not the same in all versions.
  private func version(_ document: JSONValue?) throws -> String {
    guard case .photo = item else { return try document?.plainText ?? "no record" }
    guard let photo = document?.objectValue else { return "no photo" }
    let others = [local, remote, base].compactMap { $0?.objectValue }
    var shown = JSONObject()
    for (key, value) in photo where key == "filename" || others.contains(where: { $0[key] != value }) {
      shown[key] = value
    }
    return try JSONValue.object(shown).plainText
  }
}
