import ArgumentParser
import Satchel

/// `satchel records verify`: compares a collection with a file.
struct RecordVerifyCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "verify",
    abstract: "Compare a collection with a mirror file or JSON lines.",
    discussion: """
      A line for each record that both do not have alike, and where the documents first differ. White space and the \
      order of keys do not matter. The checksum of a mirror is examined.

        satchel records verify planner.satchel courses courses.json

      Exit codes: 0 alike; 1 they differ, or the file is damaged; 2 could not run.
      """)

  @OptionGroup var arguments: RecordArguments

  @Argument(help: "A mirror file or JSON lines; - is the standard input.", completion: .file())
  var file: String

  func run() throws {
    let file = try RecordFile(file, of: arguments.collection)
    let (records, version) = try arguments.withCollection { (try $0.list().map(\.mirrored), $0.version) }
    let refusals = file.refusals + [file.refusal(version: version)].compactMap { $0 }
    let differences = refusals.isEmpty ? try Self.compare(records, file) : []
    let output = try Output()
    if arguments.json {
      let json: JSONValue = [
        "differences": .array(differences.map(\.json)), "refused": .array(refusals.map(\.json)),
      ]
      try output.put(json.plainText + "\n")
    } else if refusals.isEmpty, differences.isEmpty {
      try output.put("\(Terminal.count(records.count, "record")), alike\n")
    } else {
      for refusal in refusals { try output.put(refusal.text(self.file) + "\n") }
      if !differences.isEmpty { try output.put(Terminal.table(differences.map(Self.row)) + "\n") }
    }
    try output.finish()
    if !refusals.isEmpty || !differences.isEmpty { throw Terminal.attention }
  }

  /// Records of the file that have no revision and times are compared by their documents.
  private static func compare(_ records: [MirrorRecord], _ file: RecordFile) throws -> [MirrorDifference] {
    let known = Dictionary(records.map { (Array($0.id.utf8), $0) }, uniquingKeysWith: { $1 })
    let there = file.records.map { record in
      let here = known[Array(record.id.utf8)]
      return MirrorRecord(
        id: record.id, revision: record.stamp?.revision ?? here?.revision ?? 1,
        created: record.stamp?.created ?? here?.created ?? 0,
        modified: record.stamp?.modified ?? here?.modified ?? 0, document: record.document)
    }
    return try MirrorFile.compare(
      store: records, mirror: MirrorFile(collection: "", version: 1, records: there))
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
