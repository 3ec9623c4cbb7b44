import ArgumentParser

/// `satchel records`.
struct RecordsCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "records",
    abstract: "The app's own documents: collections of records.",
    discussion: """
      A collection holds JSON objects under ids. It can be written as a file and taken from one: a mirror, which is \
      one JSON text with a checksum, or JSON lines.

        satchel records list planner.satchel
        satchel records list planner.satchel courses --where '{"credits": {"gte": 6}}' --order-by title
        satchel records export planner.satchel courses courses.json
        satchel records verify planner.satchel courses courses.json
        satchel records import planner.satchel courses courses.json
      """,
    subcommands: [
      RecordListCommand.self, RecordExportCommand.self, RecordImportCommand.self, RecordVerifyCommand.self,
    ])
}
