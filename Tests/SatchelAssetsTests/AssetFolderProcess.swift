import Foundation
import Satchel
import SatchelCore
import SatchelRemoteTesting
import SatchelStorageTesting

@testable import SatchelAssets
@testable import SatchelStorage

/// One of two processes that use a store: an open store, and at most one call at a time.
// Unchecked: the scheduler and the fiber take turns.
final class AssetFolderProcess: @unchecked Sendable {
  let number: Int
  let fiber: SimulationFiber
  let vfs: FaultyDisk
  unowned let world: AssetFolderSimulation
  private(set) var store: Store?
  private(set) var isDead = false
  private(set) var call = ""
  /// Whether it deletes files, for which it holds the lock of the folder.
  private(set) var isDeleting = false
  /// Whether calls of the disk wait for their turn.
  private var isRunning = false
  private var delayed: [() -> Void] = []
  private var outcome: Result<Void, any Error>?
  /// The file that it writes, for mutants.
  var written: AssetDigest?

  init(_ number: Int, _ world: AssetFolderSimulation, _ shelf: AssetFolderShelf) throws {
    (self.number, self.world) = (number, world)
    (fiber, vfs) = try (shelf.fiber(number), shelf.vfs(number))
    vfs.heal()
    vfs.onSync { [unowned world] in world.disk.noteSync(ofDatabase: $0) }
  }

  var isBusy: Bool { fiber.isBusy }
  private var mutant: AssetFolderMutant? { world.mutant }

  func options() -> StoreOptions {
    var options = StoreOptions()
    let clock = world.clock
    options.clock = Clock { clock.now }
    (options.busyTimeout, options.vfsName, options.fileCalls) = (0, vfs.name, calls)
    options.durability = world.isDurable ? .full : .relaxed
    return options
  }

  func open() throws -> Store {
    if let store { return store }
    vfs.heal()
    isDead = false
    let opened = try Store(path: world.path, options: options())
    store = opened
    return opened
  }

  func close() {
    try? store?.close()
    store = nil
  }

  // MARK: Calls of the store

  func start(_ call: String, _ body: @escaping @Sendable () throws -> Void) {
    (self.call, isDead, outcome, isRunning) = (call, false, nil, true)
    world.note("\(number): \(call)")
    fiber.begin { [self] in
      outcome = Result { try body() }
      isRunning = false
    }
  }

  /// Runs a call until its next call of the disk.
  func resume() {
    fiber.resume()
    guard !isBusy else { return }
    isDeleting = false
    if isDead { return }
    switch outcome {
    // Constraint: hours have passed between an asset and the record that refers to it.
    case .failure(let error as SatchelError) where [.busy, .notFound, .constraint].contains(error.code):
      world.note("\(number): \(call): \(error.code)")
    case .failure(is AssetFolderSimulation.Rollback): world.note("\(number): \(call): rolled back")
    case .failure(let error): world.fail("\(call) fails: \(error)")
    default: world.note("\(number): \(call): done")
    }
    world.check("\(call) of \(number)")
    for body in delayed { body() }
    delayed = []
  }

  /// The process ends where it is: nothing that it still does has an effect.
  func kill() {
    isDead = true
    for operation in [FaultyDisk.Operation.write, .sync, .truncate, .delete] {
      vfs.fail(operation, at: 1, forGood: true)
    }
    while isBusy { resume() }
    (isRunning, delayed) = (false, [])
    close()
    vfs.heal()
  }

  /// Waits for the turn: by mutants between two steps of theirs.
  ///
  /// - Parameter isDeleting: whether it holds the lock of the folder
  func pause(_ name: String, isDeleting: Bool = false) {
    guard isRunning else { return }
    self.isDeleting = self.isDeleting || isDeleting
    world.note("\(number):   \(name)")
    fiber.pause()
  }

  // MARK: Calls of the disk

  private func turn<Value>(_ name: @autoclosure () -> String, _ failed: Value, _ body: () -> Value) -> Value {
    if isDead {
      errno = EIO
      return failed
    }
    pause(name())
    if isDead || world.violation != nil {
      errno = EIO
      return failed
    }
    return body()
  }

  private func path(_ directory: Int32, _ name: String) -> String {
    name.hasPrefix("/") ? name : "\(AssetFolderDisk.path(of: directory))/\(name)"
  }

  private var calls: FileCalls {
    let system = FileCalls.system
    var calls = system
    calls.write = { [self] file, bytes, offset in
      if isDead {
        errno = EIO
        return -1
      }
      world.disk.noteWrite(file)
      return system.write(file, bytes, offset)
    }
    calls.truncate = { [self] file, size in
      world.disk.noteWrite(file)
      return system.truncate(file, size)
    }
    calls.sync = { [self] file in
      turn("sync \(AssetFolderDisk.path(of: file).suffix(40))", -1) {
        world.disk.noteSync(file)
        if mutant == .renameoutside, let written { renameEarly(file, written) }
        return 0
      }
    }
    calls.rename = { [self] old, new in
      turn("rename \(new.suffix(40))", -1) {
        world.disk.change(new, takingFrom: old) { system.rename(old, new) }
      }
    }
    calls.renameIn = { [self] source, old, target, new in
      let (from, to) = (path(source, old), path(target, new))
      return turn("rename \(new.prefix(8))", -1) {
        let act = { [world] in world.disk.change(to, takingFrom: from) { rename(from, to) } }
        switch mutant {
        case .rowfirst:
          delayed.append { _ = act() }
          return 0
        case .renameoutside: return 0
        default: return act()
        }
      }
    }
    calls.remove = { [self] directory, name in
      let path = path(directory, name)
      if name.utf8.count == 64, !isDead { isDeleting = true }
      return turn("remove \(name.prefix(8))", -1) {
        world.disk.change(path) { system.remove(directory, name) }
      }
    }
    calls.makeDirectory = { [self] directory, name in
      let path = path(directory, name)
      return turn("make \(name.suffix(20))", -1) {
        world.disk.change(path) { system.makeDirectory(directory, name) }
      }
    }
    calls.link = { [self] old, new in
      turn("link \(new.suffix(40))", -1) {
        let act = { [world] in world.disk.change(new) { system.link(old, new) } }
        guard mutant == .restoredbfirst, call == "restore" else { return act() }
        delayed.append { _ = act() }
        return 0
      }
    }
    return calls
  }

  private func renameEarly(_ file: Int32, _ digest: AssetDigest) {
    let old = AssetFolderDisk.path(of: file)
    guard old.contains("/incoming/") else { return }
    let directory = "\(world.path).assets/\("\(digest)".prefix(2))"
    mkdir(directory, 0o700)
    _ = world.disk.change("\(directory)/\(digest)", takingFrom: old) { rename(old, "\(directory)/\(digest)") }
  }
}

/// Fibers and disks that schedules use one after the other, and an empty store.
// Unchecked: one thread uses it.
final class AssetFolderShelf: @unchecked Sendable {
  private var fibers: [SimulationFiber] = []
  private var disks: [FaultyDisk] = []
  let template: Data

  init() throws {
    let fixture = try AssetFixture()
    let store = try fixture.open()
    _ = try store.records("notes")
    try store.assets.put([1])
    try store.close()
    template = try Data(contentsOf: URL(filePath: fixture.path))
  }

  func fiber(_ number: Int) -> SimulationFiber {
    while fibers.count <= number { fibers.append(SimulationFiber()) }
    return fibers[number]
  }

  func vfs(_ number: Int) throws -> FaultyDisk {
    while disks.count <= number { disks.append(try FaultyDisk()) }
    return disks[number]
  }

  func end() { for fiber in fibers { fiber.stop() } }
}
