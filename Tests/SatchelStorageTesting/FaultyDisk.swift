import CFaultyVFS
import Foundation

/// A simulated disk for one test, which fails on request. Stores use it through `StoreOptions.vfsName`.
// Unchecked: the C code locks.
package final class FaultyDisk: @unchecked Sendable {
  package enum Operation: CaseIterable, Sendable {
    case read, write, sync, truncate, open, delete, sharedMemory

    fileprivate var number: faulty_operation {
      switch self {
      case .read: FAULTY_READ
      case .write: FAULTY_WRITE
      case .sync: FAULTY_SYNC
      case .truncate: FAULTY_TRUNCATE
      case .open: FAULTY_OPEN
      case .delete: FAULTY_DELETE
      case .sharedMemory: FAULTY_SHARED_MEMORY
      }
    }
  }

  package enum Kind: CaseIterable, Sendable {
    case io, full, short

    fileprivate var number: faulty_kind {
      switch self {
      case .io: FAULTY_IO
      case .full: FAULTY_FULL
      case .short: FAULTY_SHORT
      }
    }
  }

  package let name = "faulty-\(UUID().uuidString)"
  private let disk: OpaquePointer
  private var observer: Observer?

  package init() throws {
    guard let disk = faulty_vfs_make(name) else { throw CocoaError(.featureUnsupported) }
    self.disk = disk
  }

  /// Makes the n-th operation from now on fail, and with `forGood` all later ones of its kind.
  package func fail(_ operation: Operation, at n: Int, _ kind: Kind = .io, forGood: Bool = false) {
    faulty_vfs_fail(disk, operation.number, Int64(n), kind.number, forGood)
  }

  package func heal() {
    for operation in Operation.allCases { faulty_vfs_fail(disk, operation.number, 0, FAULTY_IO, false) }
    faulty_vfs_limit(disk, -1)
  }

  /// Limits the free space to `bytes` more bytes.
  package func setFreeSpace(_ bytes: Int) { faulty_vfs_limit(disk, faulty_vfs_used(disk) + Int64(bytes)) }

  /// Calls `act` after the next database file was opened, and before SQLite locks it.
  package func afterNextOpening(_ act: @escaping () -> Void) {
    let context = Unmanaged.passRetained(Action(act)).toOpaque()
    faulty_vfs_after_opening(
      disk, { context in context.map { Unmanaged<Action>.fromOpaque($0).takeRetainedValue().act() } }, context
    )
  }

  /// Calls `act` with the path of each file that is synced, instead of syncing it, in a test whose disk exists only in a
  /// model. No file may be open.
  package func onSync(_ act: ((String) -> Void)?) {
    observer = act.map { Observer($0) }
    guard let observer else { return faulty_vfs_on_sync(disk, nil, nil) }
    faulty_vfs_on_sync(
      disk,
      { context, path in
        guard let context, let path else { return }
        Unmanaged<Observer>.fromOpaque(context).takeUnretainedValue().act(String(cString: path))
      }, Unmanaged.passUnretained(observer).toOpaque())
  }

  private final class Observer {
    let act: (String) -> Void
    init(_ act: @escaping (String) -> Void) { self.act = act }
  }

  private final class Action {
    let act: () -> Void
    init(_ act: @escaping () -> Void) { self.act = act }
  }

  package func count(_ operation: Operation) -> Int { Int(faulty_vfs_count(disk, operation.number)) }
  package var hits: Int { Int(faulty_vfs_hits(disk)) }
}
