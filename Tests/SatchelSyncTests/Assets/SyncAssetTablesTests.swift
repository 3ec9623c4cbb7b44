import SatchelAssets
import SatchelCore
import SatchelRemote
import SatchelStorage
import Testing

@testable import SatchelSync

@Suite("Tables of assets") struct SyncAssetTablesTests {
  let device: SyncTestDevice
  let one = AssetContent([1]).digest
  let two = AssetContent([2]).digest

  init() throws {
    device = try SyncTestDevice()
    try device.ledger.bind(remote: "memory", user: SyncTestDevice.user)
    while try device.continuePhase() {}
  }

  static func envelope(
    _ id: String, _ assets: [AssetDigest]?, collection: String = "things", number: Int64 = 1
  ) throws -> SyncEnvelope {
    SyncEnvelope(
      SyncContent(document: assets.map { _ in Array("{}".utf8) }), of: try SyncKey(collection, id),
      version: 1,
      writer: "one", number: number, base: nil, ancestors: SyncVersionVector(),
      assets: (assets ?? []).sorted())
  }

  static func asset(_ digest: String, _ entry: SyncAssetEntry?, number: Int64 = 1) throws -> SyncEnvelope {
    SyncEnvelope(
      SyncContent(document: entry?.serialized()), of: try SyncKey(SyncKey.asset, digest), version: 1,
      writer: "one", number: number, base: nil, ancestors: SyncVersionVector())
  }

  private func store(_ envelopes: [SyncEnvelope], at sequence: Int64) throws {
    let state = try device.ledger.state()
    var pull = SyncPull(generation: state.generation, isWhole: false, state: state)
    try device.ledger.store(envelopes.map { SyncEntry(sequence: sequence, envelope: $0) }, &pull)
    #expect(try findings() == [])
  }

  private func findings() throws -> [String] {
    try device.database.read { connection in
      var found: [String] = []
      try SyncAssetTables(connection).check(
        SyncRowTable(connection: connection, documents: device.client.document)
      ) {
        found.append("\($0): \($1)")
      }
      return found
    }
  }

  private func assets(_ condition: String) throws -> [AssetDigest] {
    try device.database.read { connection in
      var found: [AssetDigest] = []
      try connection.each("SELECT sha256, unreferenced, generation FROM sync_asset ORDER BY id") { row in
        let isFound =
          switch condition {
          case "unreferenced": !row.isNull(1)
          case "former": row.anyInteger(2) == 0
          default: row.anyInteger(2) > 0
          }
        if isFound { found.append(try SyncAssetTables.digest(row, 0)) }
      }
      return found
    }
  }

  @Test("say what nothing refers to, in whatever collection the reference is") func references() throws {
    try store(
      [Self.asset("\(one)", AssetValues.entry()), Self.asset("\(two)", AssetValues.entry("b"))], at: 1)
    #expect(try assets("unreferenced") == [one, two])
    try store(
      [Self.envelope("a", [one, two]), Self.envelope("b", [one], collection: "unknown")], at: 2)
    #expect(try assets("unreferenced") == [])
    try store([Self.envelope("a", [one], number: 2)], at: 3)
    #expect(try assets("unreferenced") == [two])
    try store([Self.envelope("a", nil, number: 3)], at: 4)
    #expect(try assets("unreferenced") == [two])
    try store([Self.envelope("b", [], collection: "unknown", number: 2)], at: 5)
    #expect(try assets("unreferenced") == [one, two])
    try store([Self.envelope("c", [two], collection: "@stories")], at: 6)
    #expect(try assets("unreferenced") == [one])
    try store([Self.asset("\(one)", nil, number: 2)], at: 7)
    #expect(try assets("all") == [two])
  }

  @Test("a reference may come before the entry of its asset") func order() throws {
    try store([Self.envelope("a", [one])], at: 1)
    try store([Self.asset("\(one)", AssetValues.entry())], at: 2)
    #expect(try assets("unreferenced") == [])
    let found = try device.database.read { connection in
      let tables = SyncAssetTables(connection)
      #expect(try tables.isReferred(one, 1) && !tables.isReferred(two, 1) && !tables.isReferred(one, 2))
      return try tables.located(one, 1)
    }
    #expect(found?.size == 1000 && found?.location == AssetValues.location() && found?.isSuspect == false)
  }

  @Test("a damaged entry has no asset, and its name may be anything") func damaged() throws {
    var envelopes = try ["x", String(repeating: "A", count: 64)].map {
      try Self.asset($0, AssetValues.entry())
    }
    envelopes.append(try Self.envelope("\(one)", [], collection: "@asset"))
    try store(envelopes, at: 1)
    #expect(try assets("all") == [])
    #expect(try device.ledger.statistics().map(\.collection) == ["@asset"])
  }

  @Test("another log keeps the objects of the former one only while it adopts", arguments: [true, false])
  func formerLog(adopts: Bool) throws {
    let position = SyncHead.Position(epoch: 1, log: AssetValues.log, number: 3)
    try join(position, adopts: true) {
      [try Self.envelope("a", [one, two]), try Self.asset("\(one)", AssetValues.entry())]
    }
    #expect(try assets("former") == [] && assets("all") == [one])
    // The next log has lost the asset's entry.
    try join(position.next(isRenumbered: true), adopts: adopts) {
      [try Self.envelope("a", [two]), try Self.asset("\(two)", AssetValues.entry("b"))]
    }
    #expect(try assets("former") == (adopts ? [one] : []))
    #expect(try assets("all") == [two] && assets("unreferenced") == [])
    let former = try device.database.read { try SyncAssetTables($0).located(one, SyncAssetTables.former) }
    #expect(former?.location == (adopts ? AssetValues.location() : nil))
    #expect(try findings() == [])
  }

  /// Reads a whole log.
  private func join(_ position: SyncHead.Position, adopts: Bool, _ envelopes: () throws -> [SyncEnvelope])
    throws
  {
    var pull = try device.ledger.beginPull(all: true, from: try device.ledger.state())
    try device.ledger.store(try envelopes().map { SyncEntry(sequence: 1, envelope: $0) }, &pull)
    var head = SyncHead(position: position)
    (head.digest, head.count, head.bytes) = (pull.state.digest, pull.state.count, pull.state.bytes)
    head.adopts = adopts
    #expect(try device.complete(pull, head, try #require(ETag("\"\(position.log)\""))))
    while try device.continuePhase() {}
    #expect(try findings() == [])
  }

  @Test("the check finds what differs from the entries, and a repair rebuilds it")
  func check() throws {
    try store([Self.envelope("a", [one]), Self.asset("\(one)", AssetValues.entry(unused: 4))], at: 1)
    let changes = [
      "UPDATE sync_asset SET unreferenced = 1", "DELETE FROM sync_asset_reference",
      "UPDATE sync_asset_reference SET generation = 2", "UPDATE sync_asset SET object = NULL",
      "UPDATE sync_asset SET unused = NULL", "UPDATE sync_asset SET size = 1", "DELETE FROM sync_asset",
      "UPDATE sync_asset SET entry = 77", "UPDATE sync_asset_reference SET entry = 77",
    ]
    for change in changes {
      try device.database.write { try $0.connection.execute(change) }
      #expect(try findings() != [], "\(change)")
      try device.database.write { transaction in
        try SyncAssetTables(transaction.connection).rebuild(SyncRowTable(connection: transaction.connection))
      }
      #expect(try findings() == [], "\(change)")
    }
    try device.ledger.detach()
    #expect(try assets("all") == [] && device.number("SELECT count(*) FROM sync_asset_reference") == 0)
  }
}

@Suite("Assets in envelopes and heads") struct AssetFormatTests {
  let digests = [1, 2, 3].map { AssetContent([$0]).digest }.sorted()

  @Test("an envelope names the assets of its document, and a deletion none") func envelope() throws {
    let envelope = try SyncAssetTablesTests.envelope("a", digests)
    #expect(try SyncEnvelope(parsing: envelope.bytes) == envelope)
    #expect(try SyncEnvelope(parsing: envelope.bytes).assets == digests)
    let deletion = SyncEnvelope(
      SyncContent(document: nil), of: envelope.key, version: 1, writer: "one", number: 2, base: envelope,
      ancestors: SyncVersionVector(of: envelope), assets: digests)
    #expect(deletion.assets.isEmpty)
    #expect(try SyncEnvelope(parsing: deletion.bytes) == deletion)
  }

  @Test("the assets of a stranger's envelope are refused", arguments: 0..<7) func damaged(_ kind: Int) throws
  {
    let names = digests.map { "\"\($0)\"" }
    let lists = [
      "[\(names[1]),\(names[0])]", "[\(names[0]),\(names[0])]", "[\(names[0].uppercased())]", "[\"\"]", "[1]",
      "{}",
      "[" + Array(repeating: "1", count: 10_001).joined(separator: ",") + "]",
    ]
    let valid = try SyncAssetTablesTests.envelope("a", [digests[0]]).bytes
    let bytes = valid.replacing("\"assets\":[\(names[0])]", "\"assets\":\(lists[kind])")
    #expect(bytes != valid)
    do {
      _ = try SyncEnvelope(parsing: bytes)
      Issue.record("\(lists[kind].prefix(80)) is read")
    } catch let error as SatchelError { #expect(error.code == .damaged && error.message.contains("/assets")) }
  }

  @Test("a head says whether it adopts, and whether assets are to be sealed again") func head() throws {
    var head = try SyncValues.head()
    for (adopts, reseals) in [(true, false), (false, true), (true, true)] {
      (head.adopts, head.reseals) = (adopts, reseals)
      let read = try SyncHead(parsing: head.serialized())
      #expect(read.adopts == adopts && read.reseals == reseals)
    }
    for member in ["adopt", "reseal"] {
      let (old, new) = ("\"\(member)\":true", "\"\(member)\":false")
      #expect(throws: SatchelError.self) { try SyncHead(parsing: head.serialized().replacing(old, new)) }
    }
  }

  @Test("a collection that begins with @ is kept, whatever it is") func collections() {
    for name in ["@state", "@asset", "@stories", "@a1_", "things"] { #expect(SyncKey.isCollection(name)) }
    for name in ["@", "@@a", "a@b", "@A", "@1", "", "@\(String(repeating: "a", count: 64))"] {
      #expect(!SyncKey.isCollection(name))
    }
  }
}
