import ArgumentParser
import Satchel
import Synchronization

/// `satchel photos sync`: brings a catalogue and its master copy into agreement.
struct PhotoSyncCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "sync",
    abstract: "Bring the catalogue and its master copy into agreement.",
    discussion: """
      Shards that changed there come down, shards that changed here go up. Where both changed the same shard, the \
      master wins, and each local change that lost is kept (see "conflicts"); with --policy merge-rows the local \
      changes are put on top of what came down, and go up again. A shard that fails stays pending, and stops no other.

        satchel photos sync guide.satchel ~/Pictures --user ana --remote /mnt/shared/photos
        satchel photos sync guide.satchel ~/Pictures --user ana --remote s3://photos --dry-run
        satchel photos sync guide.satchel ~/Pictures --user ana --remote s3://photos/family \\
          --endpoint https://s3.example.org

      The keys to an S3 store come from AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY and AWS_SESSION_TOKEN, never from the \
      command line.

      Exit codes: 0 both sides agree; 1 shards failed and stay pending, changes lost, or lines of the master's are no \
      photos; with --dry-run, there is something to move; 2 could not run.
      """)

  enum Policy: String, ExpressibleByArgument, CaseIterable {
    case remoteWins = "remote-wins"
    case mergeRows = "merge-rows"

    var policy: SyncPolicy { self == .remoteWins ? .remoteWins : .mergeRows }
  }

  @OptionGroup var arguments: PhotoArguments
  @OptionGroup var remote: RemoteArguments
  @OptionGroup var creation: CreationArguments

  @Option(help: "Which side wins where both changed.")
  var policy = Policy.remoteWins

  @Flag(help: "Tell what would move, and move nothing.")
  var dryRun = false

  @Option(help: ArgumentHelp("Shards that move at once, 1 to 16.", valueName: "n"))
  var parallel = 4

  @Flag(
    help: "Take the risk of a store that ignores conditions: two devices at once may undo each other there.")
  var acceptUnconditional = false

  @Flag(name: [.short, .long], help: "Show no progress.")
  var quiet = false

  func validate() throws {
    guard (1...16).contains(parallel) else {
      throw ValidationError("--parallel: \(parallel) is not a number from 1 to 16")
    }
    if dryRun, creation.create { throw ValidationError("--dry-run makes no store") }
  }

  func run() throws {
    Interruption.listen()
    var options = SyncOptions()
    options.policy = policy.policy
    options.isDryRun = dryRun
    options.parallel = parallel
    options.acceptsUnconditional = acceptUnconditional
    options.cancellation = Cancellation { Interruption.isWanted }
    let report = try sync(options)
    let output = try Output()
    try output.put(arguments.json ? report.json.plainText + "\n" : SyncText(report).text + "\n")
    try output.finish()
    let wantsAttention = !report.failed.isEmpty || report.conflictRows > 0 || !report.rejected.isEmpty
    if wantsAttention || (dryRun && !report.isUnchanged) { throw Terminal.attention }
  }

  private func sync(_ options: SyncOptions) throws -> SyncReport {
    let bar = Mutex(Progress(isQuiet: quiet))
    do {
      defer { bar.withLock { $0.clear() } }
      return try arguments.withCatalogue(writing: !dryRun, creating: creation.create) { photos in
        let store = try remote.open(isReading: dryRun)
        return try photos.sync(with: store, user: UserID(remote.user), options: options) { progress in
          bar.withLock { Self.show(progress, in: &$0) }
          return !Interruption.isWanted
        }
      }
    } catch let error as SatchelError where error.code == .cancelled {
      Terminal.complain("interrupted: what was done stays, and the next sync goes on from there")
      Interruption.obey()
      throw error
    }
  }

  private static func show(_ progress: SyncProgress, in bar: inout Progress) {
    let moved = "\(Terminal.bytes(progress.bytesUp)) up, \(Terminal.bytes(progress.bytesDown)) down"
    bar.show(progress.shardsDone, of: progress.phase == .plan ? nil : progress.shardsTotal, note: moved)
  }
}
