import Satchel

/// Collections for people.
enum CollectionTable {
  static func rows(of collections: [CollectionInfo]) -> [[String]] {
    let heading = ["collection", "records", "version", "user", "indexes", "relations"]
    return [heading]
      + collections.map { collection in
        [
          collection.name, "\(collection.count)", "\(collection.version)", collection.user ?? "-",
          list(indexes(collection.indexes)), list(relations(collection.relations)),
        ]
      }
  }

  private static func list(_ texts: [String]) -> String {
    texts.isEmpty ? "-" : texts.joined(separator: ", ").printable
  }

  private static func indexes(_ json: JSONValue) -> [String] {
    (json.arrayValue ?? []).map { index in
      let isUnique = index["unique"]?.boolValue ?? false
      return (index["path"]?.stringValue ?? "") + (isUnique ? " (unique)" : "")
    }
  }

  private static func relations(_ json: JSONValue) -> [String] {
    (json.objectValue ?? JSONObject()).map { path, relation in
      let target = relation["collection"]?.stringValue ?? ""
      return "\(path) to \(target) (\(relation["on_delete"]?.stringValue ?? ""))"
    }
  }
}

extension Record {
  /// The form that crosses the boundaries.
  var json: JSONValue {
    get throws {
      [
        "id": .string(id), "revision": .int(revision), "created": .int(created), "modified": .int(modified),
        "sync_status": .string(syncStatus.rawValue), "document": try document,
      ]
    }
  }

  /// As a mirror holds it.
  var mirrored: MirrorRecord {
    MirrorRecord(id: id, revision: revision, created: created, modified: modified, document: body)
  }
}
