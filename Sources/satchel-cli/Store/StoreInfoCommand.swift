import ArgumentParser
import Satchel

/// `satchel store info`: shows a store's size, versions and active location.
struct StoreInfoCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "info",
    abstract: "Show a store's size and versions.",
    discussion: """
      Shows the path, the size on disk including the WAL, the versions of the schema and of SQLite, the \
      number of places with content, the active location, what offline regions keep, how old the oldest content \
      is and how many requests to sources failed, and the number and size of the assets: those that are here, of \
      them files in the folder next to the store and variants; those that something refers to and that are \
      elsewhere, in the remote or at a URL, or missing; and those whose upload waits.

        satchel store info guide.satchel

      Exit codes: 0 shown; 2 could not run.
      """)

  @OptionGroup var arguments: StoreArguments

  func run() throws {
    let store = try arguments.open()
    defer { try? store.close() }
    var info = try store.info().json.objectValue ?? JSONObject()
    // These describe how the tool opened the store, not the store.
    info["read_only"] = nil
    info["quarantined"] = nil
    info["contexts"] = .int(Int64(try store.catalogue.contexts().count))
    info["active_location"] = try store.catalogue.activeLocation()?.json ?? .null
    let assets = try store.assets.statistics()
    let catalogue = try store.catalogue.statistics()
    if arguments.json {
      info["catalogue"] = catalogue.json
      info["assets"] = assets.json
      return try Terminal.print(json: .object(info))
    }
    if let text = catalogue.regionsText { info["regions"] = .string(text) }
    if let text = catalogue.freshnessText { info["freshness"] = .string(text) }
    if let text = assets.text { info["assets"] = .string(text) }
    let rows = try info.map { key, value in
      [key.split(separator: "_").joined(separator: " "), try value.stringValue ?? value.text]
    }
    print(Terminal.table(rows))
  }
}
