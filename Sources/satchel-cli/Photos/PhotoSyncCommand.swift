import ArgumentParser
import Satchel

/// `satchel photos sync`: syncs a catalogue with its remote.
struct PhotoSyncCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "sync",
    abstract: "Sync the catalogue with its remote.",
    discussion: """
      Downloads shards that changed on the remote and uploads shards that changed locally. When both sides \
      changed a shard, the policy decides: with remote-wins each lost local change is kept as a conflict \
      (see "satchel conflicts"); with merge the local changes are applied to the downloaded shard, which is \
      uploaded again. Without --on-conflict it is the policy that the app has declared with the catalogue, \
      which "photos status" shows, and at first remote-wins. A shard that fails stays pending and does not stop the others.

        satchel photos sync guide.satchel ~/Pictures --user ana --remote /mnt/shared/photos
        satchel photos sync guide.satchel ~/Pictures --user ana --remote s3://photos --dry-run
        satchel photos sync guide.satchel ~/Pictures --user ana --remote s3://photos/family --endpoint https://s3.example.org

      The credentials of an S3 store are read from AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY and \
      AWS_SESSION_TOKEN, or from ~/.aws/credentials, never from the command line.

      Exit codes: 0 both sides are in sync; 1 shards failed, local changes lost a conflict, or lines of the \
      remote are not photos; with --dry-run, there is something to transfer; 2 could not run.
      """)

  enum Policy: String, ExpressibleByArgument, CaseIterable {
    case remoteWins = "remote-wins"
    case merge = "merge"

    var policy: ConflictPolicy { self == .remoteWins ? .remoteWins : .merge }
  }

  @OptionGroup var arguments: PhotoArguments
  @OptionGroup var remote: RemoteArguments
  @OptionGroup var creation: CreationArguments
  @OptionGroup var transfer: TransferArguments
  @OptionGroup var beginning: FirstSyncArguments

  @Option(help: "How to resolve conflicts when both sides changed, if not as the catalogue declares it.")
  var onConflict: Policy?

  @Flag(help: "Show what would be transferred, without transferring it.")
  var dryRun = false

  @Flag(
    help:
      "Accept a remote without conditional writes; devices that sync at the same time may lose changes there."
  )
  var allowUnsafeRemote = false

  func validate() throws {
    if dryRun, creation.create { throw ValidationError("--dry-run and --create exclude each other") }
  }

  func run() throws {
    var options = SyncOptions()
    options.onConflict = onConflict?.policy
    options.isDryRun = dryRun
    options.allowUnsafeRemote = allowUnsafeRemote
    options.first = beginning.first
    options.recreate = beginning.recreate
    let report = try transfer.run(
      options, json: arguments.json, interrupted: TransferArguments.interruptedSync,
      text: { PhotoSyncText($0).text }
    ) { options, progress in
      try arguments.withCatalogue(writing: !dryRun, creating: creation.create) { photos in
        try photos.sync(
          with: remote.open(isReading: dryRun), user: UserID(remote.user), options: options,
          progress: progress)
      }
    }
    if report.needsAttention || (dryRun && !report.isUnchanged) { throw Terminal.attention }
  }
}

extension SyncReport {
  /// Whether shards failed, local changes lost a conflict, or lines of the remote are not photos.
  var needsAttention: Bool { !failed.isEmpty || conflictRows > 0 || !rejected.isEmpty }
}

/// The report of a photo catalogue's sync as text.
struct PhotoSyncText {
  /// The lines about transfers and failures; empty when both sides are in sync.
  private(set) var lines: [String] = []
  private let traffic: String
  private let isUnchanged: Bool

  init(_ report: SyncReport) {
    traffic = Terminal.traffic(requests: report.requests, report.bytesUp, report.bytesDown)
    isUnchanged = report.isUnchanged
    let shards = [
      (report.isDryRun ? "would download" : "downloaded", report.downloaded),
      (report.isDryRun ? "would upload" : "uploaded", report.uploaded),
      ("changed on both sides", report.conflicts),
      (report.isDryRun ? "would repair" : "repaired", report.repaired),
    ]
    for (label, shards) in shards where !shards.isEmpty {
      lines.append("\(label): \(Self.shards(shards))")
    }
    for rejected in report.rejected {
      let row = rejected.row
      // These bytes exist nowhere else, so they are printed.
      let raw =
        row.fault == .replaced || row.fault == .discarded
        ? ": " + String(decoding: row.raw, as: UTF8.self).printable : ""
      lines.append("shard \(rejected.shard), line \(row.line): \(row.reason)\(raw)")
    }
    for failure in report.failed {
      lines.append("failed: shard \(failure.shard): \(failure.error.message.printable)")
    }
    if report.removed > 0 { lines.append("\(Terminal.count(Int(report.removed), "photo")) deleted locally") }
    if report.conflictRows > 0 {
      let changes = Terminal.count(report.conflictRows, "change")
      lines.append("\(changes) lost a conflict: see \"satchel conflicts\"")
    }
  }

  var text: String {
    let unchanged = isUnchanged ? ["nothing to transfer: both sides are in sync"] : []
    return (lines + unchanged + [traffic]).joined(separator: "\n")
  }

  /// Formats shard numbers: "0 4 f".
  static func shards(_ shards: [Shard.Index]) -> String {
    shards.sorted().map(\.description).joined(separator: " ")
  }
}
