import ArgumentParser
import Satchel

/// `satchel photos probe`: checks whether an object store supports conditional writes.
struct PhotoProbeCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "probe",
    abstract: "Check whether an object store supports conditional writes.",
    discussion: """
      Without conditional writes, devices that sync at the same time overwrite each other's changes. The \
      command writes a temporary object below the user's catalogue and deletes it; it needs no Satchel \
      store. "sync" runs the same check once.

        satchel photos probe --user ana --remote s3://photos --endpoint https://s3.example.org

      The check sends one request at a time: it does not detect conditions that fail only in a race.

      Exit codes: 0 supported; 1 not supported; 2 could not run, for example because the \
      store cannot be reached.
      """)

  @OptionGroup var remote: RemoteArguments

  @Flag(help: "Print JSON, on one line.")
  var json = false

  func run() throws {
    Interruption.installHandlers()
    let unsupported = try probe()
    let output = try Output()
    if json {
      let json: JSONValue = [
        "supported": .bool(unsupported == nil), "reason": unsupported.map { .string($0) } ?? .null,
      ]
      try output.put(json.plainText + "\n")
    } else {
      try output.put(unsupported.map { "not supported: \($0.printable)\n" } ?? "supported\n")
    }
    try output.finish()
    if unsupported != nil { throw Terminal.attention }
  }

  /// Returns the condition that the store does not support; nil when it supports all.
  private func probe() throws -> String? {
    do {
      let store = try remote.open()
      let prefix = try ObjectPrefix("catalogs/\(remote.user)/")
      let cancellation = Cancellation { Interruption.isRequested }
      switch try ConditionProbe().probe(store, under: prefix, cancellation: cancellation) {
      case .supported: return nil
      case .unsupported(let what): return what
      }
    } catch let error as ObjectStoreError {
      Interruption.raiseSignal()
      throw error.satchelError
    }
  }
}
