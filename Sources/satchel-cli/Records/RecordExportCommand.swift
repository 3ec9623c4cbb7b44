import ArgumentParser
import Satchel

/// `satchel records export`: writes a collection to a file.
struct RecordExportCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "export",
    abstract: "Write a collection to a mirror file, as plain JSON, or as JSON lines.",
    discussion: """
      A mirror file is one JSON document with a record on each line, ordered by id, and a checksum; an \
      existing file is replaced atomically. With --plain it is an object with the documents by id, and with \
      --id-member an array of documents that have their ids in that member, both in the order of insertion; \
      they have no revisions and times. With --lines each line is the JSON object of one record.

        satchel records export planner.satchel courses courses.json
        satchel records export planner.satchel courses by-id.json --plain
        satchel records export planner.satchel courses list.json --id-member id
        satchel records export planner.satchel courses - --lines | head

      Exit codes: 0 written; 2 could not run, and the file is unchanged.
      """)

  @OptionGroup var arguments: RecordArguments

  @Argument(help: "The file to write; - is the standard output.", completion: .file())
  var file: String

  @Flag(help: "Write JSON lines, an object for each record.")
  var lines = false

  @OptionGroup var plain: PlainFileArguments

  func validate() throws {
    if lines, plain.format != nil {
      throw ValidationError("--lines cannot be combined with --plain and --id-member")
    }
    if arguments.json, file == "-" {
      throw ValidationError("--json cannot be combined with -: both write to the standard output")
    }
  }

  func run() throws {
    let mirror = try arguments.withCollection { records in
      MirrorFile(
        collection: records.name, version: records.version, records: try records.list().map(\.mirrored),
        as: plain.format ?? .checksummed)
    }
    if !lines, isRegularFile {
      // Serialised with an app that keeps the same mirror file, and synced to disk.
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

  /// Whether the target is a regular file or does not exist, rather than a pipe or a device.
  private var isRegularFile: Bool {
    guard file != "-" else { return false }
    var status = stat()
    return stat(file, &status) != 0 || status.st_mode & S_IFMT == S_IFREG
  }

  /// Returns the records of a mirror file as JSON lines. The file has one record a line between its first and
  /// last line.
  private static func lines(of mirror: String) -> String {
    let lines = mirror.utf8.split(separator: UInt8(ascii: "\n")).dropFirst().dropLast()
    return lines.map { line in
      String(Substring(line.last == UInt8(ascii: ",") ? line.dropLast() : line)) + "\n"
    }.joined()
  }
}
