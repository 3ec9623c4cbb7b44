import ArgumentParser
import Satchel

/// `satchel photos conflicts`.
struct PhotoConflictsCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "conflicts",
    abstract: "List, show, reapply or dismiss local changes that lost a conflict.",
    discussion: """
        satchel photos conflicts guide.satchel ~/Pictures
        satchel photos conflicts show guide.satchel ~/Pictures 3
        satchel photos conflicts reapply guide.satchel ~/Pictures 3
        satchel photos conflicts dismiss guide.satchel ~/Pictures --all
      """,
    subcommands: [
      PhotoConflictListCommand.self, PhotoConflictShowCommand.self, PhotoConflictReapplyCommand.self,
      PhotoConflictDismissCommand.self,
    ],
    defaultSubcommand: PhotoConflictListCommand.self)
}

/// `satchel photos conflicts list`.
struct PhotoConflictListCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "list",
    abstract: "List the local changes that lost a conflict, oldest first.",
    discussion: """
      Shows for each conflict its number, time, cause and kind, and the photo's local and remote name.

        satchel photos conflicts list guide.satchel ~/Pictures

      Exit codes: 0 no conflicts; 1 there are conflicts; 2 could not run.
      """)

  @OptionGroup var arguments: PhotoArguments

  func run() throws {
    let conflicts = try arguments.withCatalogue { try $0.allConflicts() }
    let output = try Output()
    if arguments.json {
      try output.put(JSONValue.array(conflicts.map(\.json)).plainText + "\n")
    } else if conflicts.isEmpty {
      try output.put("no conflicts\n")
    } else {
      let rows = conflicts.map { conflict in
        [
          "\(conflict.id)", Terminal.time(conflict.time), conflict.cause.rawValue, conflict.kind.rawValue,
          conflict.md5.description,
          "\(conflict.local.quotedName) lost to \(conflict.remote.quotedName)",
        ]
      }
      try output.put(Terminal.table(rows) + "\n")
    }
    try output.finish()
    if !conflicts.isEmpty { throw Terminal.attention }
  }
}

/// `satchel photos conflicts show`.
struct PhotoConflictShowCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "show",
    abstract: "Show one conflict, column by column.",
    discussion: """
      Shows the local, the remote and the last synced version of the photo. A star marks columns whose local \
      and remote values differ.

        satchel photos conflicts show guide.satchel ~/Pictures 3

      Exit codes: 0 shown; 1 the conflict does not exist; 2 could not run.
      """)

  @OptionGroup var arguments: PhotoArguments

  @Argument(help: ArgumentHelp("The conflict's number, as \"list\" shows it.", valueName: "number"))
  var number: Int64

  func run() throws {
    let found = try arguments.withCatalogue { try $0.conflict(number) }
    let output = try Output()
    if arguments.json {
      try output.put((found?.json ?? .null).plainText + "\n")
    } else if let found {
      try output.put(try Self.text(found) + "\n")
    } else {
      Terminal.printError("there is no conflict \(number)")
    }
    try output.finish()
    if found == nil { throw Terminal.attention }
  }

  private static func text(_ conflict: PhotoConflict) throws -> String {
    let columns = ["filename", "size", "photodate", "modified", "width", "height", "apple_photo_id"]
    let sides = [conflict.local, conflict.remote, conflict.base].map { $0?.json.objectValue }
    var rows = [["", "local", "remote", "base"]]
    for column in columns {
      let cells = try sides.map { try cell($0?[column], of: column) }
      rows.append(["\(column)\(cells[0] == cells[1] ? "" : " *")"] + cells)
    }
    let (kind, cause) = (conflict.kind.rawValue, conflict.cause.rawValue)
    let heading = "\(conflict.md5), shard \(conflict.md5.shard): \(kind) lost to \(cause)"
    return "\(heading), \(Terminal.time(conflict.time))\n" + Terminal.table(rows)
  }

  private static func cell(_ value: JSONValue?, of column: String) throws -> String {
    guard let value, !value.isNull else { return "-" }
    if column == "photodate" || column == "modified", let seconds = value.intValue {
      return Terminal.time(seconds: seconds)
    }
    return try (value.stringValue ?? value.text).printable
  }
}

/// `satchel photos conflicts reapply`.
struct PhotoConflictReapplyCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "reapply",
    abstract: "Apply lost changes again; the next sync uploads them.",
    discussion: """
        satchel photos conflicts reapply guide.satchel ~/Pictures 3 4

      Exit codes: 0 reapplied; 1 some conflicts do not exist, or the list is empty; 2 could not run.
      """)

  @OptionGroup var arguments: PhotoArguments
  @OptionGroup var selection: ConflictSelection

  func run() throws {
    try selection.resolve(in: arguments, "reapplied") { try $0.reapply($1) }
  }
}

/// `satchel photos conflicts dismiss`.
struct PhotoConflictDismissCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "dismiss",
    abstract: "Delete conflicts from the list.",
    discussion: """
        satchel photos conflicts dismiss guide.satchel ~/Pictures --all

      Exit codes: 0 dismissed; 1 some conflicts do not exist, or the list is empty; 2 could not run.
      """)

  @OptionGroup var arguments: PhotoArguments
  @OptionGroup var selection: ConflictSelection

  func run() throws {
    try selection.resolve(in: arguments, "dismissed") { try $0.dismiss($1) }
  }
}

/// The conflicts that a command applies to.
struct ConflictSelection: ParsableArguments {
  @Argument(help: ArgumentHelp("The conflicts' numbers, as \"list\" shows them.", valueName: "number"))
  var numbers: [Int64] = []

  @Flag(help: "All conflicts, oldest first.")
  var all = false

  func validate() throws {
    if all == !numbers.isEmpty { throw ValidationError("give either the numbers of conflicts or --all") }
  }

  /// Runs `body` for each selected conflict and prints the result.
  func resolve(
    in arguments: PhotoArguments, _ participle: String, _ body: (PhotoCatalogue, Int64) throws -> Void
  ) throws {
    var resolved: [Int64] = []
    var missing: [Int64] = []
    try arguments.withCatalogue(writing: true) { photos in
      for number in all ? try photos.allConflicts().map(\.id) : numbers {
        do {
          try body(photos, number)
          resolved.append(number)
        } catch let error as SatchelError where error.code == .notFound {
          missing.append(number)
        }
      }
    }
    let output = try Output()
    if arguments.json {
      let json: JSONValue = [
        .init(participle): .array(resolved.map { .int($0) }), "missing": .array(missing.map { .int($0) }),
      ]
      try output.put(json.plainText + "\n")
    } else {
      try output.put("\(Terminal.count(resolved.count, "change")) \(participle)\n")
    }
    try output.finish()
    for number in missing { Terminal.printError("there is no conflict \(number)") }
    if resolved.isEmpty || !missing.isEmpty { throw Terminal.attention }
  }
}

extension Photo? {
  /// The file name in quotes; "a deletion" for nil.
  fileprivate var quotedName: String { map { "\"\($0.filename.printable)\"" } ?? "a deletion" }
}

extension PhotoCatalogue {
  /// Returns all conflicts, oldest first.
  func allConflicts() throws -> [PhotoConflict] {
    var conflicts: [PhotoConflict] = []
    while true {
      let page = try self.conflicts(after: conflicts.last?.id ?? 0, limit: 1000)
      conflicts += page
      if page.count < 1000 { return conflicts }
    }
  }

  func conflict(_ number: Int64) throws -> PhotoConflict? {
    guard number > 0 else { return nil }
    return try conflicts(after: number - 1, limit: 1).first { $0.id == number }
  }
}
