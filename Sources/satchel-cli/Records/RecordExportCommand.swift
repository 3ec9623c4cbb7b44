import ArgumentParser
import Satchel

/// `satchel records export`: writes a collection as a file.
struct RecordExportCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "export",
    abstract: "Write a collection as a mirror file, or as JSON lines.",
    discussion: """
      A mirror is one JSON text, a record a line, ordered by id, with a checksum; it is put in the place of an \
      earlier one as a whole. With --lines there is a JSON object for each record, and nothing around them.

        satchel records export planner.satchel courses courses.json
        satchel records export planner.satchel courses - --lines | head

      Exit codes: 0 written; 2 could not run, and the file is as it was.
      """)

  @OptionGroup var arguments: RecordArguments

  @Argument(help: "Where to; - is the standard output.", completion: .file())
  var file: String

  @Flag(help: "Write JSON lines: an object for each record.")
  var lines = false

  func validate() throws {
    if arguments.json, file == "-" {
      throw ValidationError("--json says what was written, and has no place on the standard output beside it")
    }
  }

  func run() throws {
    let mirror = try arguments.withCollection { records in
      MirrorFile(
        collection: records.name, version: records.version, records: try records.list().map(\.mirrored))
    }
    if !lines, isPlainFile {
      // Beside an app that keeps the same mirror: one after the other, and synced.
      try mirror.write(to: file)
    } else {
      var text = String(decoding: try mirror.serialized(), as: UTF8.self)
      if lines { text = Self.lines(of: text) }
      let output = try Output(file)
      try output.put(file == "-" && Terminal.isTerminal(STDOUT_FILENO) ? text.printableJSON : text)
      try output.finish()
    }
    guard file != "-" else { return }
    let output = try Output()
    let report: JSONValue = [
      "collection": .string(mirror.collection), "version": .int(Int64(mirror.version)),
      "records": .int(Int64(mirror.records.count)), "path": .string(file),
    ]
    let written = "\(Terminal.count(mirror.records.count, "record")) written"
    try output.put((arguments.json ? report.plainText : written) + "\n")
    try output.finish()
  }

  /// Whether a file is there or is to be made, rather than a pipe or a device.
  private var isPlainFile: Bool {
    guard file != "-" else { return false }
    var facts = stat()
    return stat(file, &facts) != 0 || facts.st_mode & S_IFMT == S_IFREG
  }

  /// The records of a mirror's text: it has one a line, a line before and a line behind.
  private static func lines(of mirror: String) -> String {
    let lines = mirror.utf8.split(separator: UInt8(ascii: "\n")).dropFirst().dropLast()
    return lines.map { line in
      String(Substring(line.last == UInt8(ascii: ",") ? line.dropLast() : line)) + "\n"
    }.joined()
  }
}
