import ArgumentParser
import Satchel

/// `satchel store info`: facts about a store.
struct StoreInfo: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "info",
    abstract: "Show a store's size and versions.",
    discussion: """
      Its path, its size on disk with its log, the versions of its schema and of SQLite, how many places it has \
      content for, and the active location.

        satchel store info guide.satchel

      Exit codes: 0 shown; 2 could not run.
      """)

  @OptionGroup var arguments: StoreArguments

  func run() throws {
    let store = try arguments.open()
    defer { try? store.close() }
    var info = try store.info().objectValue ?? JSONObject()
    // How the tool itself opened it says nothing about the store.
    info["read_only"] = nil
    info["set_aside"] = nil
    info["contexts"] = .int(Int64(try store.catalogue.contexts().count))
    info["active_location"] = try store.catalogue.activeLocation()?.json ?? .null
    if arguments.json { return try Terminal.print(json: .object(info)) }
    let rows = try info.map { key, value in
      [key.split(separator: "_").joined(separator: " "), try value.stringValue ?? value.text]
    }
    print(Terminal.table(rows))
  }
}
