use bytes::Bytes;
use deltaic_core::actions::ObjectPath;
use deltaic_core::store::{PutOutcome, Store};
use deltaic_core::{Error, Result};

/// What every store must do. `root` is an empty place that the suite may fill.
///
/// # Panics
/// At the first promise of [`Store`] that does not hold, saying which.
pub fn store_conformance(store: &dyn Store, root: &ObjectPath) {
    reads_and_writes(store, &root.join("objects"));
    put_if_absent_creates_once(store, &root.join("once"));
    listing_is_ordered_and_flat(store, &root.join("list"));
    names_are_taken_as_they_are(store, &root.join("names"));
    absent_objects_are_not_found(store, &root.join("absent"));
    one_of_many_writers_wins(store, &root.join("race"));
}

fn reads_and_writes(store: &dyn Store, root: &ObjectPath) {
    let path = root.join("a/b.bin");
    let body = Bytes::from((0..=255u8).collect::<Vec<_>>());
    store.put(&path, body.clone()).expect("put makes the folders that it needs");
    assert_eq!(store.get(&path).expect("get"), body, "get gives what put wrote");
    assert_eq!(store.get_range(&path, 10..20).expect("get_range"), body.slice(10..20), "get_range");
    let ranges = store.get_ranges(&path, &[200..256, 0..1, 5..9]).expect("get_ranges");
    assert_eq!(
        ranges,
        [body.slice(200..256), body.slice(0..1), body.slice(5..9)],
        "ranges come in the order asked"
    );
    let meta = store.head(&path).expect("head");
    assert_eq!(meta.size, 256, "head gives the size");
    assert!(meta.modified > 1_500_000_000_000, "head gives milliseconds: {}", meta.modified);

    store.put(&path, Bytes::from_static(b"new")).expect("put replaces");
    assert_eq!(store.get(&path).expect("get"), "new", "put replaces the whole object");
    let empty = root.join("empty");
    store.put(&empty, Bytes::new()).expect("put of nothing");
    assert_eq!(store.get(&empty).expect("get of nothing"), "", "an empty object is an object");
    assert_eq!(store.head(&empty).expect("head of nothing").size, 0);

    let large = root.join("large");
    let part = Bytes::from(vec![7; 3 << 20]);
    let mut parts = (0..7).map(|_| Ok(part.clone()));
    store.put_parts(&large, &mut parts).expect("put_parts");
    assert_eq!(store.get(&large).expect("get"), vec![7; 21 << 20], "put_parts joins the parts");
    let failure = || Error::corrupt("part", None, "the source failed");
    let mut broken = (0..7).map(|n| if n < 6 { Ok(part.clone()) } else { Err(failure()) });
    store.put_parts(&path, &mut broken).expect_err("a part that is an error");
    assert_eq!(store.get(&path).expect("get"), "new", "a source that fails changes nothing");

    let bodies = store.get_many(&[empty.clone(), root.join("missing"), path.clone()]);
    assert_eq!(bodies.len(), 3, "get_many answers for every path");
    assert_eq!(bodies[0].as_ref().expect("get_many"), "");
    assert_not_found(&bodies[1], "get_many of an absent object");
    assert_eq!(bodies[2].as_ref().expect("get_many"), "new");

    store.delete(&path).expect("delete");
    assert_not_found(&store.get(&path), "get after delete");
}

fn put_if_absent_creates_once(store: &dyn Store, root: &ObjectPath) {
    let path = root.join("_delta_log/00000000000000000000.json");
    let first = store.put_if_absent(&path, Bytes::from_static(b"first")).expect("put_if_absent");
    assert_eq!(first, PutOutcome::Created);
    let second = store.put_if_absent(&path, Bytes::from_static(b"second")).expect("put_if_absent");
    assert_eq!(second, PutOutcome::AlreadyExists);
    assert_eq!(store.get(&path).expect("get"), "first", "the loser changes nothing");
    let names: Vec<String> = list(store, &root.join("_delta_log"), "");
    assert_eq!(names, ["00000000000000000000.json"], "no temporary object stays");
    store.delete(&path).expect("delete");
    let third = store.put_if_absent(&path, Bytes::from_static(b"third")).expect("put_if_absent");
    assert_eq!(third, PutOutcome::Created, "absent again");
}

fn listing_is_ordered_and_flat(store: &dyn Store, root: &ObjectPath) {
    for name in
        ["10.json", "9.json", "_last", "10.crc", "10.checkpoint.parquet", "sub/1.json", "sub/deep/2.json"]
    {
        store.put(&root.join(name), Bytes::from(name.to_owned())).expect("put");
    }
    let all = ["10.checkpoint.parquet", "10.crc", "10.json", "9.json", "_last"];
    assert_eq!(list(store, root, ""), all, "by name in byte order, folders left out");
    assert_eq!(list(store, root, "10.crc"), all[1..], "the name itself belongs to the listing");
    assert_eq!(list(store, root, "10.d"), all[2..], "a start that is no object");
    assert_eq!(list(store, root, "zzz"), [""; 0], "a start behind the end");
    assert_eq!(
        list(store, &root.join("no such folder"), ""),
        [""; 0],
        "a folder that does not exist is empty"
    );
    let entries = store.list_from(root, "_last").expect("list_from");
    assert_eq!(entries.first().map(|e| e.size), Some(5), "a listing gives sizes");
    assert!(entries.iter().all(|e| e.modified > 1_500_000_000_000), "a listing gives times");

    let mut deep: Vec<String> = store.list_all(root).expect("list_all").into_iter().map(|e| e.name).collect();
    deep.sort();
    let mut expected: Vec<&str> = all.iter().copied().chain(["sub/1.json", "sub/deep/2.json"]).collect();
    expected.sort_unstable();
    assert_eq!(deep, expected, "list_all gives names relative to the folder");
    assert!(store.list_all(&root.join("no such folder")).expect("list_all").is_empty());

    let mut direct = store.entries(root).expect("entries");
    direct.sort();
    assert_eq!(direct, [&all[..], &["sub"]].concat(), "entries gives objects and folders, each once");
    assert!(store.entries(&root.join("no such folder")).expect("entries").is_empty());
}

fn names_are_taken_as_they_are(store: &dyn Store, root: &ObjectPath) {
    // no control characters and none of `<>:"|?*\`, which Windows refuses
    let names = [
        "p=a b",
        "p=a%20b",
        "p=100%",
        "p=ü€",
        "p=#+&;@!$'(),~[]{}^`",
        "p=..x",
        "p==",
        "p=__HIVE_DEFAULT_PARTITION__",
    ];
    for name in names {
        let path = root.join(name).join("f.parquet");
        store.put(&path, Bytes::from(name.to_owned())).unwrap_or_else(|e| panic!("put of `{name}`: {e}"));
    }
    for name in names {
        let path = root.join(name).join("f.parquet");
        assert_eq!(store.get(&path).unwrap_or_else(|e| panic!("get of `{name}`: {e}")), name);
        assert_eq!(list(store, &root.join(name), ""), ["f.parquet"], "listing of `{name}`");
    }
    let mut found: Vec<String> =
        store.list_all(root).expect("list_all").into_iter().map(|e| e.name).collect();
    found.sort();
    let mut expected: Vec<String> = names.iter().map(|n| format!("{n}/f.parquet")).collect();
    expected.sort();
    assert_eq!(found, expected, "names come back decoded");
}

fn absent_objects_are_not_found(store: &dyn Store, root: &ObjectPath) {
    let path = root.join("nothing.json");
    assert_not_found(&store.get(&path), "get");
    assert_not_found(&store.get_range(&path, 0..1), "get_range");
    assert_not_found(&store.get_ranges(&path, &[0..1, 2..3]), "get_ranges");
    assert_not_found(&store.head(&path), "head");
    let deleted = store.delete(&path);
    assert!(
        matches!(deleted, Ok(()) | Err(Error::NotFound { .. })),
        "delete of an absent object: {deleted:?}"
    );
}

fn one_of_many_writers_wins(store: &dyn Store, root: &ObjectPath) {
    for round in 0..20 {
        let path = root.join(&format!("{round:020}.json"));
        let winners: Vec<usize> = std::thread::scope(|scope| {
            let path = &path;
            let writers: Vec<_> = (0..8)
                .map(|w| {
                    scope.spawn(move || (w, store.put_if_absent(path, Bytes::from(format!("writer {w}")))))
                })
                .collect();
            writers
                .into_iter()
                .map(|handle| handle.join().expect("a writer panicked"))
                .filter(|(_, outcome)| *outcome.as_ref().expect("put_if_absent") == PutOutcome::Created)
                .map(|(writer, _)| writer)
                .collect()
        });
        assert_eq!(winners.len(), 1, "exactly one writer creates an object: {winners:?}");
        assert_eq!(
            store.get(&path).expect("get"),
            format!("writer {}", winners[0]),
            "the body is the winner's"
        );
    }
}

fn list(store: &dyn Store, dir: &ObjectPath, from: &str) -> Vec<String> {
    store.list_from(dir, from).expect("list_from").into_iter().map(|e| e.name).collect()
}

fn assert_not_found<T: std::fmt::Debug>(answer: &Result<T>, what: &str) {
    assert!(matches!(answer, Err(Error::NotFound { .. })), "{what} of an absent object: {answer:?}");
}
