import ArgumentParser
import Satchel

/// `satchel records put`: writes a record.
struct RecordPutCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "put",
    abstract: "Write a record: a new one, or a new document of an existing one.",
    discussion: """
      The document is stored as it is given, byte for byte, without white space around it. With \
      --if-revision, a record that was changed since it was read is not overwritten. A string of more than \
      1 MiB gives a warning: put it as an asset, with "assets put".

        satchel records put planner.satchel courses algebra '{"title": "Linear Algebra", "credits": 6}'
        satchel records put planner.satchel courses algebra - < algebra.json
        satchel records put planner.satchel courses algebra '{"credits": 9}' --if-revision 3
        satchel records put --create planner.satchel notes first '{"text": "Bring a coat"}'

      Exit codes: 0 written; 1 not written, because the record has another revision, or the document violates \
      the collection's schema, unique indexes or relations; or written to the outbox file, because the store's \
      file could not be written; 2 could not run, for example because the document is not a JSON object.
      """)

  @OptionGroup var arguments: RecordArguments
  @OptionGroup var record: RecordIDArgument

  @Argument(help: "The document: a JSON object; - is the standard input.")
  var document: String

  @OptionGroup var revision: RevisionArgument

  @Flag(help: "Create the store and the collection if they do not exist.")
  var create = false

  func run() throws {
    let document = try JSONInput(document, as: "the document")
    try document.checkObject()
    let receipt = try arguments.store.change(creating: create) { store in
      let name = arguments.collection
      guard create, try RecordArguments.find(name, in: store) == nil else {
        return try put(document, RecordArguments.collection(name, of: store, creating: create))
      }
      return try store.batch { try put(document, store.records(name)) }
    }
    let output = try Output()
    if arguments.json {
      let json: JSONValue = [
        "revision": .int(receipt.revision), "new": .bool(receipt.isNew), "spooled": .bool(receipt.isSpooled),
      ]
      try output.put(json.plainText + "\n")
    } else if !receipt.isSpooled {
      let name = "\(arguments.collection)/\(record.id)".printable
      try output.put("\(name): \(receipt.isNew ? "new, " : "")revision \(receipt.revision)\n")
    }
    try output.finish()
    for warning in receipt.warnings {
      Terminal.printError("\(arguments.collection)/\(record.id): \(warning.pointer): \(warning.reason)")
    }
    try arguments.store.checkOutbox()
  }

  private func put(_ document: JSONInput, _ records: RecordCollection) throws -> RecordReceipt {
    try document.bytes.withUnsafeBytes { try records.put(record.id, $0, ifRevision: revision.ifRevision) }
  }
}
