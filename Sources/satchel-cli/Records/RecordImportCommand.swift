import ArgumentParser
import Satchel

/// `satchel records import`: takes records from a file.
struct RecordImportCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "import",
    abstract: "Take records from a mirror file or JSON lines: all or nothing.",
    discussion: """
      Each record takes the place of the one that has its id, with the revision and times that the file has; \
      records that are not in the file stay. What is no record, and what the collection does not allow (its schema, \
      unique indexes, relations), is named by line and cause, and then nothing is imported.

      A line is {"id": "algebra", "document": {...}}, with "revision", "created" and "modified" or without.

        satchel records import planner.satchel courses courses.json
        satchel records import --create planner.satchel courses courses.jsonl
        satchel records list old.satchel courses --all --json-lines | satchel records import new.satchel courses -

      Exit codes: 0 imported; 1 something was refused, and nothing was imported; 2 could not run.
      """)

  @OptionGroup var arguments: RecordArguments

  @Argument(help: "A mirror file or JSON lines; - is the standard input.", completion: .file())
  var file: String

  @Flag(help: "Make the store and the collection when there is none.")
  var create = false

  func run() throws {
    let file = try RecordFile(file, of: arguments.collection)
    var (report, refusals) = (RecordImportReport(), file.refusals)
    if refusals.isEmpty { (report, refusals) = try take(file) }
    let output = try Output()
    if arguments.json {
      var json = report.json.objectValue ?? JSONObject()
      json["refused"] = .array(refusals.map(\.json))
      try output.put(JSONValue.object(json).plainText + "\n")
    } else if refusals.isEmpty {
      try output.put("\(report.added) added, \(report.changed) changed, \(report.unchanged) unchanged\n")
    } else {
      for refusal in refusals { try output.put(refusal.text(self.file) + "\n") }
    }
    try output.finish()
    guard !refusals.isEmpty else { return }
    if !arguments.json { Terminal.complain("nothing was imported") }
    throw Terminal.attention
  }

  private func take(_ file: RecordFile) throws -> (RecordImportReport, [RecordRefusal]) {
    let store = try arguments.store.open(writing: true, creating: create)
    var refusals: [RecordRefusal] = []
    do {
      let report = try store.batch {
        try open(file, in: store, &refusals)?.take(file.records) { index, error in
          refusals.append(
            RecordRefusal(line: file.lines[index], id: file.records[index].id, error.message))
        }
      }
      try store.close()
      return (report ?? RecordImportReport(), refusals)
    } catch let error as SatchelError where error.code == .invalid {
      try? store.close()
      guard refusals.isEmpty else { return (RecordImportReport(), refusals) }
      // What only shows at the end: a reference to nothing.
      guard let index = file.index(namedBy: error.message, in: arguments.collection) else { throw error }
      let refusal = RecordRefusal(line: file.lines[index], id: file.records[index].id, error.message)
      return (RecordImportReport(), [refusal])
    } catch {
      try? store.close()
      throw error
    }
  }

  /// The collection; nil when the file's records are of another version, which is then among the refusals.
  private func open(
    _ file: RecordFile, in store: Satchel, _ refusals: inout [RecordRefusal]
  ) throws -> RecordCollection? {
    let name = arguments.collection
    guard let known = try RecordArguments.find(name, in: store) else {
      guard create else {
        throw SatchelError(.notFound, "\(store.path): has no collection \(name); --create makes it")
      }
      return try store.records(name, version: file.version)
    }
    if let refusal = file.refusal(version: known.version) {
      refusals.append(refusal)
      return nil
    }
    return try store.records(name)
  }
}

extension RecordFile {
  /// What is wrong with a mirror of another version.
  func refusal(version known: Int) -> RecordRefusal? {
    guard let version, version != known else { return nil }
    return RecordRefusal(
      "at /version: its records are of version \(version), those of the collection of \(known)")
  }
}
