import ArgumentParser
import Satchel

/// `satchel photos probe`: measures what an object store can do.
struct PhotoProbeCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "probe",
    abstract: "Measure what an object store can do, with the credentials at hand.",
    discussion: """
      Without conditional writes, devices that sync at the same time overwrite each other's changes. The \
      command writes temporary objects below the user's catalogue and deletes them; it needs no Satchel \
      store. "sync" checks the conditional writes once. The other lines say what the credentials may do, and \
      what the store has.

        satchel photos probe --user ana --remote s3://photos --endpoint https://s3.example.org

      The check sends one request at a time: it does not detect conditions that fail only in a race.

      Exit codes: 0 conditional writes are supported; 1 they are not; 2 could not run, for example because the \
      store cannot be reached.
      """)

  @OptionGroup var remote: RemoteArguments

  @Flag(help: "Print JSON, on one line.")
  var json = false

  func run() throws {
    Interruption.installHandlers()
    let found = try probe()
    let output = try Output()
    try output.put((json ? found.json.plainText : Self.text(found)) + "\n")
    try output.finish()
    if found.reason != nil { throw Terminal.attention }
  }

  private static func text(_ found: RemoteCapabilities) -> String {
    func word(_ value: Bool?) -> String { value.map { $0 ? "yes" : "no" } ?? "not measured" }
    var lines = [found.reason.map { "not supported: \($0.printable)" } ?? "supported"]
    lines.append("may list: \(word(found.lists))")
    lines.append("may delete: \(word(found.deletes))")
    lines.append("keeps metadata: \(word(found.keepsMetadata))")
    lines.append("ranges: \(word(found.hasRanges))")
    lines.append("uploads in parts: \(word(found.hasParts))")
    lines.append("demands checksums: \(word(found.demandsChecksums))")
    if let offset = found.clockOffset { lines.append("clock: \(offset / 1000) s ahead of this device's") }
    return lines.joined(separator: "\n")
  }

  private func probe() throws -> RemoteCapabilities {
    do {
      let store = try remote.open()
      let prefix = try ObjectPrefix("catalogs/\(remote.user)/")
      let cancellation = Cancellation { Interruption.isRequested }
      return try RemoteProbe().probe(store, under: prefix, cancellation: cancellation)
    } catch let error as ObjectStoreError {
      Interruption.raiseSignal()
      throw error.satchelError
    }
  }
}
