import CFaultyVFS
import SatchelJSON
import SatchelStorage
import SatchelTesting
import Testing

@testable import SatchelRecords

@Suite("State on a bad disk")
struct StateDiskTests {
  /// What fails: from the n-th operation of a sort on, that one or all behind it.
  struct Fault: Sendable, CustomTestStringConvertible {
    var operation: faulty_operation
    var kind: faulty_kind
    var isForGood: Bool
    var at: Int64

    var testDescription: String {
      "operation \(operation.rawValue), kind \(kind.rawValue), \(isForGood ? "for good" : "once"), at \(at)"
    }
  }

  static let faults: [Fault] = {
    let places: [Int64] = [1, 2, 3, 4, 5, 6, 8, 11, 15, 20]
    var faults: [Fault] = []
    for (operation, kind) in [
      (FAULTY_WRITE, FAULTY_FULL), (FAULTY_WRITE, FAULTY_IO), (FAULTY_SYNC, FAULTY_IO),
    ] {
      for isForGood in [false, true] {
        faults += places.map { Fault(operation: operation, kind: kind, isForGood: isForGood, at: $0) }
      }
    }
    return faults
  }()

  @Test(
    "wherever it fails nothing is lost, nothing counts twice, and what goes to the spill file is told",
    arguments: faults)
  func bad(fault: Fault) throws {
    let name = "state disk \(fault.testDescription) \(UInt64.random(in: .min ... .max))"
    let disk = try #require(faulty_vfs_make(name))
    let fixture = try StateFixture()
    var model = StateModel()
    var dice = SeededRandom(seed: UInt64(fault.at))
    func open() throws -> StateFixture.Opened {
      let store = try fixture.open(nil, StateFixture.never) {
        $0.fileSystem = name
        $0.durability = .full
      }
      try store.state.setKey(StateFixture.key)
      return store
    }
    func change(_ state: StateStore) throws {
      for _ in 0..<8 { try model.step(state, "", &dice) }
    }
    let store = try open()
    let heard = StateHeard()
    let subscription = try store.database.observe { heard.add($0) }
    try change(store.state)
    try store.state.flush()
    faulty_vfs_fail(disk, fault.operation, fault.at, fault.kind, fault.isForGood)
    for _ in 0..<4 {
      try change(store.state)
      let isSpilled = try store.state.flush()
      #expect(!isSpilled || fixture.isSpilled && heard.keys.contains("@spilled"))
      #expect(try StateModel(store.state, "").tidy == model.tidy)
    }
    #expect(fault.at > 4 || faulty_vfs_hits(disk) > 0)
    faulty_vfs_fail(disk, fault.operation, 0, fault.kind, false)
    try change(store.state)
    #expect(try store.state.flush() == false)
    #expect(!fixture.isSpilled)
    #expect(heard.keys.contains("@spilled") == heard.keys.contains("@replayed"))
    #expect(try StateModel(store.state, "").tidy == model.tidy)
    subscription.cancel()
    try store.database.close()
    let later = try open()
    #expect(try StateModel(later.state, "").tidy == model.tidy)
    #expect(try later.journal.refused(in: later.database).isEmpty)
  }
}
