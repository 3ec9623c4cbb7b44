import ArgumentParser
import Satchel

/// The options of a sync with another user, another remote, or one that has become empty.
struct FirstSyncArguments: ParsableArguments {
  @Option(
    help: ArgumentHelp(
      "What happens to content of another user or remote: upload (it becomes this user's), or discard (it is "
        + "removed from the store).", valueName: "choice"))
  var first: FirstSync?

  @Flag(help: "Send everything again to a remote that was synced before and is empty.")
  var recreate = false
}

extension FirstSync: ExpressibleByArgument {}
