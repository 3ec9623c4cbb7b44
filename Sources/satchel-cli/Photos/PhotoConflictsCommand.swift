import ArgumentParser
import Satchel

/// `satchel photos conflicts`.
struct PhotoConflictsCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "conflicts",
    abstract: "Local changes that lost: look at them, make them again, or forget them.",
    discussion: """
        satchel photos conflicts guide.satchel ~/Pictures
        satchel photos conflicts show guide.satchel ~/Pictures 3
        satchel photos conflicts reapply guide.satchel ~/Pictures 3
        satchel photos conflicts dismiss guide.satchel ~/Pictures --all
      """,
    subcommands: [
      PhotoConflictList.self, PhotoConflictShow.self, PhotoConflictReapply.self, PhotoConflictDismiss.self,
    ],
    defaultSubcommand: PhotoConflictList.self)
}

/// `satchel photos conflicts list`.
struct PhotoConflictList: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "list",
    abstract: "List the local changes that lost, oldest first.",
    discussion: """
      Their numbers, when they lost and to what, and the photo's name here and there.

        satchel photos conflicts list guide.satchel ~/Pictures

      Exit codes: 0 there are none; 1 there are some; 2 could not run.
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
          "\(PhotoConflictShow.name(conflict.local)) lost to \(PhotoConflictShow.name(conflict.remote))",
        ]
      }
      try output.put(Terminal.table(rows) + "\n")
    }
    try output.finish()
    if !conflicts.isEmpty { throw Terminal.attention }
  }
}

/// `satchel photos conflicts show`.
struct PhotoConflictShow: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "show",
    abstract: "Show one conflict, column by column.",
    discussion: """
      The photo as it was here, as it came from elsewhere, and as both sides had last agreed on. A star marks what \
      differs here and there.

        satchel photos conflicts show guide.satchel ~/Pictures 3

      Exit codes: 0 shown; 1 there is no such conflict; 2 could not run.
      """)

  @OptionGroup var arguments: PhotoArguments

  @Argument(help: ArgumentHelp("Its number, as \"list\" shows it.", valueName: "number"))
  var number: Int64

  func run() throws {
    let found = try arguments.withCatalogue { try $0.conflict(number) }
    let output = try Output()
    if arguments.json {
      try output.put((found?.json ?? .null).plainText + "\n")
    } else if let found {
      try output.put(try Self.text(found) + "\n")
    } else {
      Terminal.complain("there is no conflict \(number)")
    }
    try output.finish()
    if found == nil { throw Terminal.attention }
  }

  private static func text(_ conflict: PhotoConflict) throws -> String {
    let columns = ["filename", "size", "photodate", "modified", "width", "height", "apple_photo_id"]
    let sides = [conflict.local, conflict.remote, conflict.base].map { $0?.json.objectValue }
    var rows = [["", "here", "elsewhere", "agreed"]]
    for column in columns {
      let cells = try sides.map { try cell($0?[column], of: column) }
      rows.append(["\(column)\(cells[0] == cells[1] ? "" : " *")"] + cells)
    }
    let heading =
      "\(conflict.md5), shard \(conflict.md5.shard): \(conflict.kind.rawValue) lost to \(conflict.cause.rawValue)"
    return "\(heading), \(Terminal.time(conflict.time))\n" + Terminal.table(rows)
  }

  private static func cell(_ value: JSONValue?, of column: String) throws -> String {
    guard let value, !value.isNull else { return "-" }
    if column == "photodate" || column == "modified", let seconds = value.intValue {
      return Terminal.time(seconds: seconds)
    }
    return try (value.stringValue ?? value.text).printable
  }

  static func name(_ photo: Photo?) -> String { photo.map { "\"\($0.filename.printable)\"" } ?? "a deletion" }
}
