import ArgumentParser
import Satchel

/// `satchel records get`: prints the document of a record.
struct RecordGetCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "get",
    abstract: "Print the document of a record.",
    discussion: """
      Prints the bytes of the document as they were written, without a line feed after them. On a terminal, \
      control characters are shown as \\u escapes. With --json, prints the record with id, revision, times \
      and sync status.

        satchel records get planner.satchel courses algebra
        satchel records get planner.satchel courses algebra > algebra.json
        satchel records get planner.satchel courses algebra --json

      Exit codes: 0 printed; 1 there is no such record; 2 could not run, for example because the collection \
      does not exist.
      """)

  @OptionGroup var arguments: RecordArguments
  @OptionGroup var record: RecordIDArgument

  func run() throws {
    let record = try arguments.withCollection { try $0.get(self.record.id) }
    let output = try Output()
    if arguments.json {
      try output.put((record?.json ?? .null).plainText + "\n")
    } else if let record {
      let document = String(decoding: record.body, as: UTF8.self)
      try output.put(Terminal.isTerminal(STDOUT_FILENO) ? document.printableJSON + "\n" : document)
    }
    try output.finish()
    if record == nil { throw self.record.missing(in: arguments.collection) }
  }
}

/// The id of a record.
struct RecordIDArgument: ParsableArguments {
  @Argument(help: "The record's id.")
  var id: String

  func validate() throws {
    guard CommandLine.isUTF8(id) else { throw ValidationError("the id is not UTF-8") }
  }

  /// Prints that there is no such record, and returns the exit code.
  func missing(in collection: String) -> any Error {
    Terminal.printError("\(collection): has no record \(id.printable)")
    return Terminal.attention
  }
}

/// The revision that a record must have to be changed.
struct RevisionArgument: ParsableArguments {
  @Option(
    help: ArgumentHelp(
      "Only if the record has this revision; 0 if there must be no such record.", valueName: "n"))
  var ifRevision: Int64?

  func validate() throws {
    if let ifRevision, ifRevision < 0 { throw ValidationError("--if-revision: \(ifRevision) is negative") }
  }
}
