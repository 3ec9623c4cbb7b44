import ArgumentParser
import Satchel

/// `satchel store detach`: ends a store's binding to its remote.
struct StoreDetachCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "detach",
    abstract: "Detach the store from its remote.",
    discussion: """
      All data remain, locally and in the remote; open and waiting conflicts are deleted. The next sync as the \
      same user binds the store again and compares everything. The content still belongs to the user: "store \
      sign-out" removes it, and "sync --first" gives it to another user or remote. A photo catalogue has a \
      binding of its own: see "photos detach".

      Documents may refer to assets that are only in the remote: their number is shown. "--fetch-assets" gets \
      them first.

        satchel store detach planner.satchel
        satchel store detach planner.satchel --fetch-assets s3://planner

      Exit codes: 0 detached, or the store was not attached to a remote; 2 could not run.
      """)

  @OptionGroup var arguments: StoreArguments

  @Option(
    help: ArgumentHelp(
      "Fetch the assets first that are only in this remote: a directory, or s3://bucket/prefix.",
      valueName: "location"),
    completion: .directory)
  var fetchAssets: String?

  @OptionGroup var connection: ConnectionArguments

  func validate() throws { if let fetchAssets { try connection.validate(fetchAssets) } }

  func run() throws {
    let remote = try fetchAssets.map { try connection.open($0, isReading: true) }
    let report = try arguments.change { try $0.detach(fetchingAssetsFrom: remote) }
    let output = try Output()
    if arguments.json {
      var json = report.json.objectValue ?? JSONObject()
      json["detached"] = true
      try output.put(JSONValue.object(json).plainText + "\n")
    } else {
      try output.put("\(arguments.store.printable): detached\n")
      if report.assets.fetched > 0 { try output.put("assets fetched: \(report.assets.fetched)\n") }
      if report.remoteAssets > 0 {
        try output.put("assets that are only in the remote: \(report.remoteAssets)\n")
      }
    }
    try output.finish()
  }
}
