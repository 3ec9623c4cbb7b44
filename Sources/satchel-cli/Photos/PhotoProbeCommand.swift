import ArgumentParser
import Satchel

/// `satchel photos probe`: whether an object store is good for master copies.
struct PhotoProbeCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "probe",
    abstract: "Find out whether an object store honours conditions on writes.",
    discussion: """
      Without them two devices that sync at once overwrite each other. Writes an object of its own below the user's \
      catalogue, and removes it again; needs no store of Satchel. "sync" tries the same, once.

        satchel photos probe --user ana --remote s3://photos --endpoint https://s3.example.org

      A store whose conditions hold one after the other, but not in a race, cannot be found out so.

      Exit codes: 0 it does; 1 it does not; 2 could not run, as when it cannot be reached.
      """)

  @OptionGroup var remote: RemoteArguments

  @Flag(help: "Print JSON, on one line.")
  var json = false

  func run() throws {
    Interruption.listen()
    let ignored = try probe()
    let output = try Output()
    if json {
      let json: JSONValue = [
        "honoured": .bool(ignored == nil), "reason": ignored.map { .string($0) } ?? .null,
      ]
      try output.put(json.plainText + "\n")
    } else {
      try output.put(ignored.map { "ignored: \($0.printable)\n" } ?? "honoured\n")
    }
    try output.finish()
    if ignored != nil { throw Terminal.attention }
  }

  /// What the store ignores; nil when it honours conditions.
  private func probe() throws -> String? {
    do {
      let store = try remote.open()
      let prefix = try ObjectPrefix("catalogs/\(remote.user)/")
      let cancellation = Cancellation { Interruption.isWanted }
      switch try ConditionProbe().probe(store, under: prefix, cancellation: cancellation) {
      case .honoured: return nil
      case .ignored(let what): return what
      }
    } catch let error as ObjectStoreError {
      Interruption.obey()
      throw error.satchelError
    }
  }
}
