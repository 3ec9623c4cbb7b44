/// How a store's file is used.
public struct StoreStatistics: Equatable, Sendable {
  /// So many of something.
  public struct Count: Equatable, Sendable {
    /// What is counted: "photos", "records".
    public var name: String
    public var count: Int
  }

  /// What one subject takes.
  public struct Subject: Equatable, Sendable {
    /// "catalogue", "photos", "stories", "records", "state", "journal" or "remote"; "store" for what belongs to all.
    public var name: String
    /// Its tables and indexes, in whole pages; nil where SQLite was built without the means to tell.
    public var bytes: Int64?
    public var counts: [Count]
  }

  /// One collection of records.
  public struct Collection: Equatable, Sendable {
    public var name: String
    public var version: Int
    public var records: Int
    /// Of the documents alone.
    public var bytes: Int64
    /// Changes that wait for the next sync.
    public var pending: Int
    /// Conflicts that are open, and local content that lost.
    public var conflicts: Int
  }

  public var path: String
  /// On disk, the log included.
  public var fileBytes: Int64
  public var pages: Int
  /// Pages that hold nothing, and are used again.
  public var freePages: Int
  public var pageSize: Int64
  /// Those that the store has, the largest first.
  public var subjects: [Subject]
  /// By name.
  public var collections: [Collection]
  /// Changes that wait in the spill file beside the store.
  public var spilled: Int
  /// What of the spill file cannot be read.
  public var spillDamages: [String]
  /// Changes that were spilled, and that the store refused when it was to take them in.
  public var refused: Int
}

extension StoreStatistics {
  /// As the tool prints it.
  public var json: JSONValue {
    [
      "path": .string(path), "file_bytes": .int(fileBytes), "pages": .int(Int64(pages)),
      "page_size": .int(pageSize), "free_pages": .int(Int64(freePages)),
      "subjects": .array(subjects.map(\.json)), "collections": .array(collections.map(\.json)),
      "spilled": .int(Int64(spilled)), "spill_damages": .array(spillDamages.map { .string($0) }),
      "refused": .int(Int64(refused)),
    ]
  }
}

extension StoreStatistics.Subject {
  var json: JSONValue {
    let counts = JSONObject(counts.map { ($0.name, JSONValue.int(Int64($0.count))) })
    return ["name": .string(name), "bytes": bytes.map { .int($0) } ?? .null, "counts": .object(counts)]
  }
}

extension StoreStatistics.Collection {
  var json: JSONValue {
    [
      "name": .string(name), "version": .int(Int64(version)), "records": .int(Int64(records)),
      "bytes": .int(bytes), "pending": .int(Int64(pending)), "conflicts": .int(Int64(conflicts)),
    ]
  }
}
