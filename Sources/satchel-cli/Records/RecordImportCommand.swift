import ArgumentParser
import Satchel

/// `satchel records import`: imports records from a file.
struct RecordImportCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "import",
    abstract: "Import records from a mirror file, plain JSON or JSON lines, in one transaction.",
    discussion: """
      Each record replaces the one with the same id, including revision and times if the file has them; \
      records that are not in the file are kept. If any line is not a valid record or violates the \
      collection's schema, unique indexes or relations, all such lines are reported and nothing is imported.

      A line is {"id": "algebra", "document": {...}}, with or without "revision", "created" and "modified". \
      With --plain the file is JSON as other programs write it: {"algebra": {...}, ...}, or \
      [{"id": "algebra", ...}, ...].

        satchel records import planner.satchel courses courses.json
        satchel records import --create planner.satchel courses courses.jsonl
        satchel records import --create planner.satchel courses export.json --id-member code
        satchel records list old.satchel courses --all --json-lines | satchel records import new.satchel courses -

      Exit codes: 0 imported; 1 some records are invalid, and nothing was imported; 2 could not run.
      """)

  @OptionGroup var arguments: RecordArguments

  @Argument(help: "A mirror file, plain JSON or JSON lines; - is the standard input.", completion: .file())
  var file: String

  @OptionGroup var plain: PlainFileArguments

  @Flag(help: "Create the store and the collection if they do not exist.")
  var create = false

  func run() throws {
    let file = try RecordFile(file, of: arguments.collection, as: plain.format)
    var (report, rejected) = (RecordImportReport(), file.rejected)
    if rejected.isEmpty { (report, rejected) = try importRecords(of: file) }
    let output = try Output()
    if arguments.json {
      var json = report.json.objectValue ?? JSONObject()
      json["rejected"] = .array(rejected.map(\.json))
      try output.put(JSONValue.object(json).plainText + "\n")
    } else if rejected.isEmpty {
      try output.put("\(report.added) added, \(report.changed) changed, \(report.unchanged) unchanged\n")
    } else {
      for rejection in rejected { try output.put(rejection.text(self.file) + "\n") }
    }
    try output.finish()
    guard !rejected.isEmpty else { return }
    if !arguments.json { Terminal.printError("nothing was imported") }
    throw Terminal.attention
  }

  private func importRecords(of file: RecordFile) throws -> (RecordImportReport, [RejectedRecord]) {
    let store = try arguments.store.open(writing: true, creating: create)
    var rejected: [RejectedRecord] = []
    do {
      let report = try store.batch {
        try open(file, in: store, &rejected)?.importRecords(file.records) { index, error in
          rejected.append(
            RejectedRecord(line: file.lines[index], id: file.records[index].id, error.message))
        }
      }
      try store.close()
      return (report ?? RecordImportReport(), rejected)
    } catch let error as SatchelError where error.isRejectedDocument {
      try? store.close()
      guard rejected.isEmpty else { return (RecordImportReport(), rejected) }
      // Relations are checked at commit, so only the transaction's error names the record.
      guard let index = file.index(namedBy: error.message, in: arguments.collection) else { throw error }
      let rejection = RejectedRecord(line: file.lines[index], id: file.records[index].id, error.message)
      return (RecordImportReport(), [rejection])
    } catch {
      try? store.close()
      throw error
    }
  }

  /// Opens the collection; appends to `rejected` and returns nil when the file has another version.
  private func open(
    _ file: RecordFile, in store: Store, _ rejected: inout [RejectedRecord]
  ) throws -> RecordCollection? {
    let name = arguments.collection
    guard let known = try RecordArguments.find(name, in: store) else {
      guard create else {
        throw SatchelError(.notFound, "\(store.path): has no collection \(name); --create creates it")
      }
      return try store.records(name, version: file.version)
    }
    if let rejection = file.versionMismatch(known.version) {
      rejected.append(rejection)
      return nil
    }
    return try store.records(name)
  }
}

extension RecordFile {
  /// Returns an error when the file is a mirror of another version.
  func versionMismatch(_ known: Int) -> RejectedRecord? {
    guard let version, version != known else { return nil }
    return RejectedRecord(
      "at /version: the file has version \(version), the collection has version \(known)")
  }
}
