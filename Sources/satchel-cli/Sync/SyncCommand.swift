import ArgumentParser
import Satchel

/// `satchel sync`: syncs a store with its remote.
struct SyncCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "sync",
    abstract: "Sync the records, the state and the photo catalogue of a store with a remote.",
    discussion: """
      Downloads what changed on the remote and uploads what changed locally: the records of all synchronized \
      collections, the state that is marked as synchronized, and the photo catalogue that "photos sync" bound \
      to the same remote and user. The first sync binds the store to the remote and the user, whom the content \
      belongs to from then on: it is not sent to another user or remote without --first. "store sign-out" ends \
      a user's session, "store delete-account" deletes what a user has in a remote.

        satchel sync planner.satchel --user ana --remote /mnt/shared/planner
        satchel sync planner.satchel --user ana --remote s3://planner --dry-run
        satchel sync planner.satchel --user ana --remote s3://planner/family --endpoint https://s3.example.org

      Each collection's policy decides records that both sides changed. "satchel conflicts" lists what it \
      leaves to you, versions that lost, and remote ones that cannot be applied yet. A change that cannot be \
      sent stays pending and does not stop the others. When a part of the remote is lost, the sync ends and \
      names it: sync the device that has it, or go on without it with --accept-loss.

      Assets are uploaded with the records that refer to them, and are not downloaded unless --assets says so: \
      "all", or the newest up to a number of bytes. With --no-asset-uploads, as on a metered line, no asset is \
      uploaded, and records that refer to new ones wait.

        satchel sync planner.satchel --user ana --remote s3://planner --assets all

      With --key-file records and state are encrypted before they leave this machine. All devices need the \
      same key; photos are not encrypted. What the store itself has encrypted is sent and applied only then, \
      and needs the key of the store, --store-key-file, too.

      The credentials of an S3 store are read from AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY and \
      AWS_SESSION_TOKEN, or from ~/.aws/credentials, never from the command line.

      Exit codes: 0 both sides are in sync; 1 changes could not be sent, there are conflicts to resolve, \
      remote versions wait, assets could not be downloaded, or a part of the remote was lost; with \
      --dry-run, there is something to transfer; 2 could not run.
      """)

  @OptionGroup var arguments: KeyedStoreArguments
  @OptionGroup var remote: RemoteArguments
  @OptionGroup var transfer: TransferArguments
  @OptionGroup var beginning: FirstSyncArguments

  @Flag(help: "Show what would be transferred, without transferring it.")
  var dryRun = false

  @Flag(help: "Go on when a part of the remote is lost; other devices then send what they have of it.")
  var acceptLoss = false

  @Flag(help: "Read every object of the remote, and write those again that are missing or damaged.")
  var verify = false

  @Flag(help: "Remove the bytes of replaced and deleted documents from the remote.")
  var purge = false

  @Option(
    help: ArgumentHelp(
      "The assets to download: lazy (none), all, or the newest up to a number of bytes.",
      valueName: "assets"))
  var assets = AssetDownloads.lazy

  @Flag(help: "Upload no assets; records that refer to new ones wait.")
  var noAssetUploads = false

  @Option(
    help: ArgumentHelp(
      "A file with the key of the remote's records and state: 32 bytes, or 64 hexadecimal digits.",
      valueName: "file"))
  var keyFile: String?

  func validate() throws {
    if dryRun, acceptLoss { throw ValidationError("--dry-run and --accept-loss exclude each other") }
  }

  func run() throws {
    var options = StoreSyncOptions()
    options.isDryRun = dryRun
    options.acceptLoss = acceptLoss
    options.verify = verify
    options.purge = purge
    options.first = beginning.first
    options.recreate = beginning.recreate
    options.assets = assets
    options.uploadsAssets = !noAssetUploads
    options.key = try keyFile.map { try KeyFile.read($0) }
    let report = try transfer.run(
      options, json: arguments.json, interrupted: TransferArguments.interruptedSync,
      text: { SyncText($0).text },
      sync)
    if report.needsAttention || (dryRun && !report.isUnchanged) { throw Terminal.attention }
  }

  private func sync(
    _ options: StoreSyncOptions, _ progress: @escaping @Sendable (SyncProgress) -> Bool
  ) throws -> StoreSyncReport {
    // Opened for writing even by a dry run: state that is not saved yet is saved first.
    let store = try arguments.open(writing: true)
    do {
      let report = try store.sync(
        with: remote.open(isReading: dryRun), user: UserID(remote.user), options: options, progress: progress)
      try store.close()
      return report
    } catch {
      try? store.close()
      guard let error = error as? SatchelError, error.code == .damaged, !acceptLoss else { throw error }
      throw SatchelError(
        .damaged, "\(error.message); --accept-loss continues without the lost part of the remote")
    }
  }
}

extension StoreSyncReport {
  /// Whether changes could not be sent, there are conflicts to resolve, remote versions wait, assets could not be
  /// downloaded, or a part of the remote was lost.
  var needsAttention: Bool {
    let needsDecision = [records, state].contains { $0.conflicts > $0.lost || $0.waiting > 0 }
    return !failed.isEmpty || !losses.isEmpty || !assets.failed.isEmpty || needsDecision
      || photos?.needsAttention ?? false
  }
}

extension AssetDownloads: ExpressibleByArgument {
  public init?(argument: String) {
    switch argument {
    case "lazy": self = .lazy
    case "all": self = .all
    default:
      guard let bytes = Int64(argument), bytes >= 0 else { return nil }
      // No bytes are no assets.
      self = bytes == 0 ? .lazy : .bytes(bytes)
    }
  }

  public var defaultValueDescription: String { "lazy" }
}
