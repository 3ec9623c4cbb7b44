import ArgumentParser
import Satchel

/// `satchel records delete`: deletes a record.
struct RecordDeleteCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "delete",
    abstract: "Delete a record.",
    discussion: """
      Records that refer to it are deleted, changed or keep it from being deleted, as the relations of their \
      collections say. The next sync deletes it on the remote.

        satchel records delete planner.satchel courses algebra
        satchel records delete planner.satchel courses algebra --if-revision 3

      Exit codes: 0 deleted; 1 there is no such record, it has another revision, or a record that refers to it \
      keeps it from being deleted; or written to the outbox file, because the store's file could not be \
      written; 2 could not run.
      """)

  @OptionGroup var arguments: RecordArguments
  @OptionGroup var record: RecordIDArgument
  @OptionGroup var revision: RevisionArgument

  func run() throws {
    let isDeleted = try arguments.change { try $0.delete(record.id, ifRevision: revision.ifRevision) }
    let output = try Output()
    if arguments.json {
      try output.put(JSONValue.object(["deleted": .bool(isDeleted)]).plainText + "\n")
    } else if isDeleted {
      try output.put("\(arguments.collection)/\(record.id.printable): deleted\n")
    }
    try output.finish()
    try arguments.store.checkOutbox()
    if !isDeleted { throw record.missing(in: arguments.collection) }
  }
}
