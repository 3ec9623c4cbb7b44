import ArgumentParser
import Satchel

/// `satchel records verify`: compares a collection with a file.
struct RecordVerifyCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "verify",
    abstract: "Compare a collection with a mirror file, plain JSON or JSON lines.",
    discussion: """
      Prints a line for each record that differs, with the first difference in its document. White space and \
      the order of keys are ignored. The checksum of a mirror file is verified; plain files and JSON lines \
      without revisions are compared by their documents.

        satchel records verify planner.satchel courses courses.json
        satchel records verify planner.satchel courses by-id.json --plain

      Exit codes: 0 equal; 1 different, or the file is damaged; 2 could not run.
      """)

  @OptionGroup var arguments: RecordArguments

  @Argument(help: "A mirror file, plain JSON or JSON lines; - is the standard input.", completion: .file())
  var file: String

  @OptionGroup var plain: PlainFileArguments

  func run() throws {
    let file = try RecordFile(file, of: arguments.collection, as: plain.format)
    let (records, version) = try arguments.withCollection { (try $0.list().map(\.mirrored), $0.version) }
    let rejected = file.rejected + [file.versionMismatch(version)].compactMap { $0 }
    let differences = rejected.isEmpty ? try Self.compare(records, file) : []
    let output = try Output()
    if arguments.json {
      let json: JSONValue = [
        "differences": .array(differences.map(\.json)), "rejected": .array(rejected.map(\.json)),
      ]
      try output.put(json.plainText + "\n")
    } else if rejected.isEmpty, differences.isEmpty {
      try output.put("\(Terminal.count(records.count, "record")), equal\n")
    } else {
      for rejection in rejected { try output.put(rejection.text(self.file) + "\n") }
      if !differences.isEmpty { try output.put(Terminal.table(differences.map(Self.row)) + "\n") }
    }
    try output.finish()
    if !rejected.isEmpty || !differences.isEmpty { throw Terminal.attention }
  }

  /// Compares a collection with a file; records without revision and times are compared by their documents.
  private static func compare(_ records: [MirrorRecord], _ file: RecordFile) throws -> [MirrorDifference] {
    if let plain = file.plain { return try MirrorFile.compare(store: records, mirror: plain) }
    let known = Dictionary(records.map { (Array($0.id.utf8), $0) }, uniquingKeysWith: { $1 })
    let imported = file.records.map { record in
      let local = known[Array(record.id.utf8)]
      return MirrorRecord(
        id: record.id, revision: record.stamp?.revision ?? local?.revision ?? 1,
        created: record.stamp?.created ?? local?.created ?? 0,
        modified: record.stamp?.modified ?? local?.modified ?? 0, document: record.document)
    }
    return try MirrorFile.compare(
      store: records, mirror: MirrorFile(collection: "", version: 1, records: imported))
  }

  private static func row(_ difference: MirrorDifference) -> [String] {
    let kind =
      switch difference.kind {
      case .missingInFile: "missing in the file"
      case .missingInStore: "missing in the store"
      case .differs: "differs"
      }
    guard difference.kind == .differs else { return [kind, difference.id.printable] }
    return [kind, "\(difference.id.printable)  \(difference.pointer?.printable ?? "revision or times")"]
  }
}
