import Foundation
import Satchel
import SatchelTesting
import Testing

@Suite("A store in which a view has the name of a table")
struct SchemaViewTests {
  @Test("is refused at opening and recovered without reading the view, which would never end")
  func endlessViews() throws {
    let fixture = try HostileFixture()
    let path = fixture.folder.path + "/view.satchel"
    let tables = Set(try fixture.columns().map(\.table))
    #expect(tables.contains("subject") && tables.contains("change") && tables.count > 20)
    for table in Portion.of(tables.sorted(), parts: 10) {
      try fixture.bytes.write(to: URL(filePath: path))
      let raw = try RawStore(path)
      try raw.run(
        """
        ALTER TABLE \(table) RENAME TO hidden;
        CREATE VIEW \(table) AS WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n)
          SELECT hidden.* FROM n, hidden;
        """)
      do {
        _ = try HostileFixture.open(path)
        Issue.record("\(table): opened")
      } catch let error as SatchelError {
        #expect(error.code == .damaged && error.message.contains("schema is damaged"), "\(table): \(error)")
      }
      let recovered = path + ".recovered"
      _ = try Store.recover(path, into: recovered)
      // The rows of that table are lost: `check` names what refers to them.
      _ = try HostileFixture.open(recovered).check()
      for suffix in ["", "-wal", "-shm"] {
        unlink(path + suffix)
        unlink(recovered + suffix)
      }
    }
  }
}
