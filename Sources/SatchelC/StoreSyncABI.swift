import CSatchel
import Satchel
import Synchronization

@_cdecl("satchel_store_sync") @implementation
public func satchel_store_sync(
  _ store: OpaquePointer!, _ remote: OpaquePointer!, _ user: satchel_bytes,
  _ options: UnsafePointer<satchel_store_sync_options>!, _ out: UnsafeMutablePointer<satchel_buffer>!
) -> satchel_status {
  synchronizing(remote, user, options, out) { remote, user, reader, progress in
    let options = try StoreSyncOptions(reader, progress)
    return try Handles.stores.borrow(store).sync(with: remote, user: user, options: options) {
      progress.report($0.json)
    }
  }
}

@_cdecl("satchel_store_rekey") @implementation
public func satchel_store_rekey(
  _ store: OpaquePointer!, _ remote: OpaquePointer!, _ user: satchel_bytes,
  _ options: UnsafePointer<satchel_store_sync_options>!, _ key: satchel_bytes,
  _ out: UnsafeMutablePointer<satchel_buffer>!
) -> satchel_status {
  synchronizing(remote, user, options, out) { remote, user, reader, progress in
    let options = try StoreSyncOptions(reader, progress)
    let key = key.size == 0 ? nil : Array(try key.raw("key"))
    return try Handles.stores.borrow(store).rekey(remote, user: user, options: options, to: key)
  }
}

@_cdecl("satchel_store_sync_status") @implementation
public func satchel_store_sync_status(
  _ store: OpaquePointer!, _ out: UnsafeMutablePointer<satchel_buffer>!
) -> satchel_status {
  guarded(emptying: out) { try give(Handles.stores.borrow(store).syncStatus().json, to: $0) }
}

@_cdecl("satchel_store_detach") @implementation
public func satchel_store_detach(
  _ store: OpaquePointer!, _ fetch_assets: OpaquePointer!, _ out: UnsafeMutablePointer<satchel_buffer>!
) -> satchel_status {
  out?.pointee = satchel_buffer()
  return guarded {
    let store = try Handles.stores.borrow(store)
    let remote = try fetch_assets.map { try Handles.remotes.borrow($0).store }
    let report = try store.detach(fetchingAssetsFrom: remote)
    if let out { try give(report.json, to: out) }
  }
}

@_cdecl("satchel_store_sign_out") @implementation
public func satchel_store_sign_out(
  _ store: OpaquePointer!, _ remote: OpaquePointer!,
  _ options: UnsafePointer<satchel_store_sync_options>!, _ discard_unsent: Bool,
  _ out: UnsafeMutablePointer<satchel_buffer>!
) -> satchel_status {
  out?.pointee = satchel_buffer()
  return guarded {
    let (reader, progress) = try hostOptions(options)
    let remote = try remote.map { try Handles.remotes.borrow($0).store }
    let report = try Handles.stores.borrow(store).signOut(
      syncingWith: remote, options: StoreSyncOptions(reader, progress),
      unsent: discard_unsent ? .discard : .refuse
    ) { progress.report($0.json) }
    if let out { try give(report?.json ?? .null, to: out) }
  }
}

@_cdecl("satchel_store_delete_account") @implementation
public func satchel_store_delete_account(
  _ store: OpaquePointer!, _ remote: OpaquePointer!, _ user: satchel_bytes,
  _ options: UnsafePointer<satchel_store_sync_options>!, _ out: UnsafeMutablePointer<satchel_buffer>!
) -> satchel_status {
  synchronizing(remote, user, options, out) { remote, user, reader, progress in
    let options = try StoreSyncOptions(reader, progress)
    return try Handles.stores.borrow(store).deleteAccount(from: remote, user: user, options: options) {
      progress.report($0.json)
    }
  }
}

extension StoreSyncOptions {
  init(_ reader: OptionsReader<satchel_store_sync_options>, _ progress: HostProgress) throws {
    self.init()
    isDryRun = reader.flag(\.dry_run)
    acceptLoss = reader.flag(\.accept_loss)
    verify = reader.flag(\.verify)
    purge = reader.flag(\.purge)
    first = try FirstSync(named: reader.choice(\.first))
    recreate = reader.flag(\.recreate)
    uploadsAssets = !reader.flag(\.hold_assets)
    switch reader.value(\.asset_bytes) ?? 0 {
    case 0: assets = .lazy
    case Int64(SATCHEL_ALL_ASSETS): assets = .all
    case let bytes where bytes > 0: assets = .bytes(bytes)
    case let bytes:
      throw SatchelError(.invalid, "asset_bytes: \(bytes) must be SATCHEL_ALL_ASSETS or not negative")
    }
    if let key = reader.value(\.key), key.size > 0 { self.key = Array(try key.raw("key")) }
    try read(reader, progress)
  }
}

// MARK: Common to all synchronizations

/// An options struct of a synchronization.
protocol HostSyncOptions {
  static var progressField: KeyPath<Self, satchel_progress_callback?> { get }
  static var contextField: KeyPath<Self, UnsafeMutableRawPointer?> { get }
  static var parallelField: KeyPath<Self, Int32> { get }
}

extension satchel_store_sync_options: HostSyncOptions {
  static var progressField: KeyPath<Self, satchel_progress_callback?> { \.progress }
  static var contextField: KeyPath<Self, UnsafeMutableRawPointer?> { \.context }
  static var parallelField: KeyPath<Self, Int32> { \.parallel }
}

extension TransferOptions {
  /// Reads the fields that all synchronizations have.
  mutating func read<Options: HostSyncOptions>(
    _ reader: OptionsReader<Options>, _ progress: HostProgress
  ) throws {
    if let parallel = try reader.parallel(Options.parallelField) { self.parallel = parallel }
    cancellation = progress.cancellation
  }
}

/// Returns the options of a synchronization, and the progress that they have.
func hostOptions<Options: HostSyncOptions>(
  _ options: UnsafePointer<Options>?
) throws -> (OptionsReader<Options>, HostProgress) {
  let reader = try OptionsReader(options)
  let progress = HostProgress(
    reader.value(Options.progressField) ?? nil, reader.value(Options.contextField) ?? nil)
  return (reader, progress)
}

@_cdecl("satchel_store_conflicts") @implementation
public func satchel_store_conflicts(
  _ store: OpaquePointer!, _ after: Int64, _ limit: Int32, _ out: UnsafeMutablePointer<satchel_buffer>!
) -> satchel_status {
  conflicts(limit, out) { try Handles.stores.borrow(store).conflicts(after: after, limit: $0) }
}

/// Gives a page of the conflict log.
func conflicts(
  _ limit: Int32, _ out: UnsafeMutablePointer<satchel_buffer>!,
  _ read: (_ limit: Int) throws -> [ConflictEntry]
) -> satchel_status {
  guarded(emptying: out) { out in
    try give(page: read(Int(limit)), named: "conflicts", limit: limit, to: out) { .int($0.id) }
  }
}

extension FirstSync {
  /// Converts a `satchel_first_sync`; nil for SATCHEL_FIRST_DEFAULT.
  init?(named number: satchel_first_sync.RawValue?) throws {
    switch satchel_first_sync(rawValue: number ?? SATCHEL_FIRST_DEFAULT.rawValue) {
    case SATCHEL_FIRST_DEFAULT: return nil
    case SATCHEL_FIRST_UPLOAD: self = .upload
    case SATCHEL_FIRST_DISCARD: self = .discard
    default: throw SatchelError(.invalid, "first: \(number ?? 0) is not a satchel_first_sync")
    }
  }
}

/// Calls `body` with the arguments of a synchronization, and returns its report to the host.
func synchronizing<Options: HostSyncOptions, Report: JSONConvertible>(
  _ remote: OpaquePointer?, _ user: satchel_bytes, _ options: UnsafePointer<Options>?,
  _ out: UnsafeMutablePointer<satchel_buffer>?,
  _ body: (any ObjectStore, UserID, OptionsReader<Options>, HostProgress) throws -> Report
) -> satchel_status {
  out?.pointee = satchel_buffer()
  return guarded {
    let remote = try Handles.remotes.borrow(remote).store
    let (reader, progress) = try hostOptions(options)
    let report = try body(remote, UserID(user.text("user")), reader, progress)
    if let out { try give(report.json, to: out) }
  }
}

/// Calls the host's progress callback, one call at a time; the callback returns whether to continue.
///
/// Work that makes no progress still checks for cancellation; that check repeats the last progress to the
/// host after `repeatInterval`, so that the host can cancel work that is stuck.
final class HostProgress: Sendable {
  private struct State {
    /// The last progress as JSON; nil before the first.
    var lastProgress: [UInt8]?
    /// The time of the last call, by `Clock.monotonic`.
    var lastCall: Int64 = 0
  }

  /// The maximum time without a call while the work checks for cancellation, in milliseconds.
  private static let repeatInterval: Int64 = 200

  private let callback: satchel_progress_callback?
  // Only passed back to the host.
  nonisolated(unsafe) private let context: UnsafeMutableRawPointer?
  private let state = Mutex(State())
  private let cancelled = Atomic(false)

  /// - Parameter callback: nil when the host passed none
  init(_ callback: satchel_progress_callback?, _ context: UnsafeMutableRawPointer?) {
    self.callback = callback
    self.context = context
  }

  /// Whether the host passed no callback.
  var isUnused: Bool { callback == nil }

  /// The cancellation that the host requests through the callback.
  var cancellation: Cancellation { callback == nil ? .never : Cancellation { self.isCancelled() } }

  /// Reports progress to the host.
  ///
  /// - Returns: false when the host cancelled the work
  func report(_ progress: JSONValue) -> Bool {
    guard callback != nil else { return true }
    // Cannot fail: the library's own values contain no number that JSON cannot represent.
    let text = try? progress.serialized()
    state.withLock { state in
      state.lastProgress = text ?? state.lastProgress
      notify(&state)
    }
    return !cancelled.load(ordering: .relaxed)
  }

  private func isCancelled() -> Bool {
    if cancelled.load(ordering: .relaxed) { return true }
    // When the lock is taken, another thread is calling the host now.
    _ = state.withLockIfAvailable { state in
      if Clock.monotonic.now() - state.lastCall >= Self.repeatInterval { notify(&state) }
    }
    return cancelled.load(ordering: .relaxed)
  }

  private func notify(_ state: inout State) {
    guard let callback, let progress = state.lastProgress, !cancelled.load(ordering: .relaxed) else { return }
    let shouldContinue = progress.withUnsafeBytes { progress in
      HostWork.calling("a progress callback") {
        callback(context, satchel_bytes(data: progress.baseAddress, size: progress.count))
      }
    }
    state.lastCall = Clock.monotonic.now()
    if !shouldContinue { cancelled.store(true, ordering: .relaxed) }
  }
}
