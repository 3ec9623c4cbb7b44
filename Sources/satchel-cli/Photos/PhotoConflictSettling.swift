import ArgumentParser
import Satchel

/// `satchel photos conflicts reapply`.
struct PhotoConflictReapply: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "reapply",
    abstract: "Make changes again that lost; the next sync sends them.",
    discussion: """
        satchel photos conflicts reapply guide.satchel ~/Pictures 3 4

      Exit codes: 0 made; 1 some of the conflicts do not exist, or there are none; 2 could not run.
      """)

  @OptionGroup var arguments: PhotoArguments
  @OptionGroup var choice: ConflictChoice

  func run() throws {
    try choice.settle(in: arguments, "reapplied") { try $0.reapply($1) }
  }
}

/// `satchel photos conflicts dismiss`.
struct PhotoConflictDismiss: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "dismiss",
    abstract: "Forget changes that lost.",
    discussion: """
        satchel photos conflicts dismiss guide.satchel ~/Pictures --all

      Exit codes: 0 forgotten; 1 some of the conflicts do not exist, or there are none; 2 could not run.
      """)

  @OptionGroup var arguments: PhotoArguments
  @OptionGroup var choice: ConflictChoice

  func run() throws {
    try choice.settle(in: arguments, "dismissed") { try $0.dismiss($1) }
  }
}

/// Which conflicts are meant.
struct ConflictChoice: ParsableArguments {
  @Argument(help: ArgumentHelp("Their numbers, as \"list\" shows them.", valueName: "number"))
  var numbers: [Int64] = []

  @Flag(help: "All there are, oldest first.")
  var all = false

  func validate() throws {
    if all == !numbers.isEmpty { throw ValidationError("give the numbers of conflicts, or --all") }
  }

  /// Does the same with each of them, and tells.
  func settle(
    in arguments: PhotoArguments, _ word: String, _ body: (PhotoCatalogue, Int64) throws -> Void
  ) throws {
    var settled: [Int64] = []
    var missing: [Int64] = []
    try arguments.withCatalogue(writing: true) { photos in
      for number in all ? try photos.allConflicts().map(\.id) : numbers {
        do {
          try body(photos, number)
          settled.append(number)
        } catch let error as SatchelError where error.code == .notFound {
          missing.append(number)
        }
      }
    }
    let output = try Output()
    if arguments.json {
      let json: JSONValue = [
        .init(word): .array(settled.map { .int($0) }), "missing": .array(missing.map { .int($0) }),
      ]
      try output.put(json.plainText + "\n")
    } else {
      try output.put("\(Terminal.count(settled.count, "change")) \(word)\n")
    }
    try output.finish()
    for number in missing { Terminal.complain("there is no conflict \(number)") }
    if settled.isEmpty || !missing.isEmpty { throw Terminal.attention }
  }
}

extension PhotoCatalogue {
  /// All conflicts, oldest first.
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
