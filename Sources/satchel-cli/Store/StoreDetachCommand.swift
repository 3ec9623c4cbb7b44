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

        satchel store detach planner.satchel

      Exit codes: 0 detached, or the store was not attached to a remote; 2 could not run.
      """)

  @OptionGroup var arguments: StoreArguments

  func run() throws {
    try arguments.change { try $0.detach() }
    let output = try Output()
    let json: JSONValue = ["detached": true]
    try output.put((arguments.json ? json.plainText : "\(arguments.store.printable): detached") + "\n")
    try output.finish()
  }
}
