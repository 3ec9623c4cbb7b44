import ArgumentParser
import Satchel

/// `satchel photos verify`: compares the remote's shards with its manifest.
struct PhotoVerifyCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "verify",
    abstract: "Read every shard in the remote and compare it with the manifest.",
    discussion: """
      Reports each shard that is missing, truncated, damaged, newer than the manifest, or unreadable. With \
      --repair damaged shards are replaced with the last synced bytes, shards that are newer than the \
      manifest are applied, and the manifest is corrected. A device repairs the shards whose bytes it has; \
      another device may have the others.

        satchel photos verify guide.satchel ~/Pictures --user ana --remote s3://photos
        satchel photos verify guide.satchel ~/Pictures --user ana --remote s3://photos --repair

      Exit codes: 0 the remote is sound or was repaired; 1 the remote is damaged; 2 could not run.
      """)

  @OptionGroup var arguments: PhotoArguments
  @OptionGroup var remote: RemoteArguments

  @Flag(help: "Repair what this device has the data for.")
  var repair = false

  @OptionGroup var transfer: TransferArguments

  func run() throws {
    let report = try transfer.run(SyncOptions(), json: arguments.json, text: Self.text) { options, progress in
      try arguments.withCatalogue(writing: repair, creating: false) { photos in
        try photos.verify(
          remote.open(isReading: !repair), user: UserID(remote.user), repair: repair, options: options,
          progress: progress)
      }
    }
    if !report.isSound { throw Terminal.attention }
  }

  private static func text(_ report: VerifyReport) -> String {
    var lines: [String] = []
    if report.manifest != .ok {
      lines.append("manifest: \(report.manifest.rawValue)\(report.isManifestRepaired ? ", repaired" : "")")
    }
    for found in report.shards where found.state != .ok {
      let message = found.error.map { ": \($0.message.printable)" } ?? ""
      lines.append(
        "shard \(found.shard): \(found.state.rawValue)\(found.isRepaired ? ", repaired" : message)")
    }
    for key in report.foreign { lines.append("not of the catalogue: \(key.printable)") }
    if report.removed > 0 { lines.append("\(Terminal.count(Int(report.removed), "photo")) deleted locally") }
    if report.foreign.count == lines.count { lines.append("all shards match the manifest") }
    lines.append(Terminal.traffic(requests: report.requests, report.bytesUp, report.bytesDown))
    return lines.joined(separator: "\n")
  }
}
